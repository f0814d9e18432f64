import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndpointSubset, Endpoints, ObjectMeta, Service } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { pod, pods, service } from '../_kit/slices/testing/build.ts';
import { decide, type Observed } from './decide.ts';

const MANAGED = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';
const CAPACITY = 'endpoints.kubernetes.io/over-capacity';

function endpoints(subsets: readonly EndpointSubset[], meta: Partial<ObjectMeta> = {}): Endpoints {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'uid-endpoints',
      resourceVersion: '5',
      labels: MANAGED,
      ...meta,
    },
    subsets,
  };
}

function deciding(observed: Partial<Observed>) {
  return decide({
    service: service(),
    pods: [],
    current: undefined,
    triggerTime: undefined,
    ...observed,
  });
}

/** What a write makes of the stored object. */
function stored(observed: Partial<Observed>): Endpoints {
  const write = deciding(observed);
  if (write === undefined) return observed.current as Endpoints;
  const metadata = { uid: 'uid-endpoints', resourceVersion: '6', ...write.body.metadata };
  return { ...write.body, metadata: metadata as ObjectMeta };
}

describe('creating', () => {
  test('a Service without pods gets Endpoints without subsets', () => {
    const write = deciding({ triggerTime: '2026-01-01T00:00:00Z' });
    expect(write as object).toMatchObject({
      verb: 'create',
      body: {
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: {
          name: 'web',
          namespace: 'default',
          labels: MANAGED,
          annotations: { [TRIGGER]: '2026-01-01T00:00:00Z' },
        },
        subsets: [],
      },
    });
  });

  test.each<[string, string | undefined, boolean]>([
    ['a cluster IP', '10.96.0.1', false],
    ['None', 'None', true],
    ['no IP yet', '', true],
    ['no IP at all', undefined, true],
  ])('headless label with %s', (_, clusterIP, headless) => {
    const labels = stored({ service: service({ clusterIP }) }).metadata.labels ?? {};
    expect('service.kubernetes.io/headless' in labels).toBe(headless);
  });

  test("labels are the Service's", () => {
    const labels = { team: 'a', 'service.kubernetes.io/headless': 'x', ...MANAGED };
    const made = stored({ service: service({}, { labels }) });
    expect(made.metadata.labels).toEqual({ team: 'a', ...MANAGED });
  });
});

describe('leaving alone', () => {
  const all = pods(3);
  const right = stored({ pods: all });

  test.each<[string, Partial<Observed>]>([
    ['what is right', { pods: all, current: right }],
    ['pods in another order', { pods: [...all].reverse(), current: right }],
    ['no subsets at all instead of an empty list', { current: { ...right, subsets: undefined } }],
    [
      'another version of a target',
      {
        pods: all,
        current: endpoints(
          (right.subsets ?? []).map((subset) => ({
            ...subset,
            addresses: subset.addresses?.map((address) => ({
              ...address,
              targetRef: { ...address.targetRef, resourceVersion: '17' },
            })),
          })),
        ),
      },
    ],
    [
      'a headless label too many, as upstream',
      {
        pods: all,
        current: endpoints(right.subsets ?? [], {
          labels: { ...MANAGED, 'service.kubernetes.io/headless': '' },
        }),
      },
    ],
    [
      'annotations of others, and an old trigger time',
      {
        pods: all,
        current: endpoints(right.subsets ?? [], {
          annotations: { team: 'a', [TRIGGER]: '2020-01-01T00:00:00Z' },
        }),
        triggerTime: '2026-01-01T00:00:00Z',
      },
    ],
  ])('%s', (_, observed) => {
    expect(deciding(observed)).toBeUndefined();
  });

  test('subsets that another hash function had put in another order', () => {
    const ports = ['a', 'b', 'c'].map((name, at) => ({
      name,
      port: 80 + at,
      targetPort: 8080 + at,
      protocol: 'TCP',
    }));
    const observed = { service: service({ ports }), pods: all };
    const made = stored(observed);
    const turned = (made.subsets ?? []).map((subset) => ({
      ...subset,
      ports: [...(subset.ports ?? [])].reverse(),
    }));
    expect(deciding({ ...observed, current: endpoints(turned) })).toBeUndefined();
  });
});

describe('updating', () => {
  const current = stored({ pods: pods(2) });

  test('keeps what others wrote: annotations, name, UID and version', () => {
    const annotated = endpoints(current.subsets ?? [], { annotations: { team: 'a' } });
    const write = deciding({
      pods: pods(3),
      current: annotated,
      triggerTime: '2026-01-01T00:01:00Z',
    });
    expect(write as object).toMatchObject({
      verb: 'update',
      because:
        'they hold 2 ready and 0 not ready addresses: 3 ready and 0 not ready addresses of 3 pods',
      body: {
        metadata: {
          uid: 'uid-endpoints',
          resourceVersion: '5',
          annotations: { team: 'a', [TRIGGER]: '2026-01-01T00:01:00Z' },
        },
      },
    });
  });

  test('without a new trigger the old time goes', () => {
    const dated = endpoints([], { annotations: { [TRIGGER]: '2020-01-01T00:00:00Z' } });
    expect(stored({ pods: pods(1), current: dated }).metadata.annotations).toEqual({});
  });

  test.each<[string, Partial<Service['metadata']>, Record<string, string>]>([
    ['a label of the Service is new', { labels: { team: 'a' } }, MANAGED],
    ['a label is gone', {}, { ...MANAGED, team: 'a' }],
    ['a label has another value', { labels: { team: 'b' } }, { ...MANAGED, team: 'a' }],
    ['the manager label is missing', {}, {}],
  ])('%s', (_, meta, labels) => {
    const observed = {
      service: service({}, meta),
      pods: pods(2),
      current: endpoints(current.subsets ?? [], { labels }),
    };
    expect(stored(observed).metadata.labels).toEqual({ ...meta.labels, ...MANAGED });
  });

  test('a pod gets unready', () => {
    const [first, second] = [pod('web-1'), pod('web-2', { ready: false })];
    const [subset] = stored({ pods: [first, second], current }).subsets ?? [];
    expect(subset?.addresses).toHaveLength(1);
    expect(subset?.notReadyAddresses).toHaveLength(1);
  });

  test('a Service becomes headless along with another change', () => {
    const observed = { service: service({ clusterIP: 'None' }), pods: pods(3), current };
    expect(stored(observed).metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
  });
});

describe('over capacity', () => {
  const many = pods(1001);

  test('is noted; nothing is written again as long as nothing changes', () => {
    const current = stored({ pods: many });
    expect(current.metadata.annotations?.[CAPACITY]).toBe('truncated');
    expect(current.subsets?.[0]?.addresses).toHaveLength(1000);
    expect(deciding({ pods: many, current })).toBeUndefined();
  });

  test('a new trigger is written, as upstream writes at every sync', () => {
    const current = stored({ pods: many });
    const write = deciding({ pods: many, current, triggerTime: '2026-01-01T00:09:00Z' });
    expect(write?.body.metadata.annotations).toEqual({
      [CAPACITY]: 'truncated',
      [TRIGGER]: '2026-01-01T00:09:00Z',
    });
  });

  test.each(['truncated', 'warning'])('the note %p goes below capacity, alone as well', (note) => {
    const observed = { pods: pods(1000) };
    const before = stored(observed);
    const current = endpoints(before.subsets ?? [], { annotations: { [CAPACITY]: note } });
    expect(stored({ ...observed, current }).metadata.annotations).toEqual({});
  });

  test('a wrong note is corrected', () => {
    const made = stored({ pods: many });
    const current = endpoints(made.subsets ?? [], { annotations: { [CAPACITY]: 'warning' } });
    expect(stored({ pods: many, current }).metadata.annotations).toEqual({
      [CAPACITY]: 'truncated',
    });
  });
});

test('whatever changes, one write makes it right and the next sync writes nothing', () => {
  const facts = fc.record({ ready: fc.boolean(), deleting: fc.boolean() });
  const world = fc.record({
    pods: fc.array(facts, { maxLength: 8 }),
    labels: fc.constantFrom<Record<string, string>>({}, { team: 'a' }, { team: 'b', x: '' }),
    published: fc.boolean(),
  });
  const observe = ({
    pods: list,
    labels,
    published,
  }: typeof world extends fc.Arbitrary<infer T> ? T : never) => ({
    service: service({ publishNotReadyAddresses: published }, { labels }),
    pods: list.map((one, at): PodRecord => pod(`web-${at + 1}`, one)),
  });
  fc.assert(
    fc.property(world, world, (before, after) => {
      const first = stored(observe(before));
      const second = stored({ ...observe(after), current: first });
      expect(deciding({ ...observe(after), current: second })).toBeUndefined();
    }),
  );
});
