import { describe, expect, test } from 'bun:test';
import type { EndpointSlice, Service } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { type PodFacts, pod, pods, service } from '../_kit/slices/testing/build.ts';
import type { Observed } from './decide.ts';
import {
  CONFIG,
  endpointsOf,
  lengths,
  sliceOf,
  slicesOf,
  sync,
  withMeta,
} from './testing/family.ts';

const TRIGGER = 'endpoints.kubernetes.io/last-change-trigger-time';
const LABELS = {
  'kubernetes.io/service-name': 'web',
  'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
};

describe('a new slice', () => {
  test('is owned by the Service, labeled, dated, and names its pod', () => {
    const { slices, writes } = sync({ pods: [pod('web-1')], triggerTime: '2026-01-01T00:00:00Z' });
    expect(writes).toEqual(['create 1']);
    expect(slices[0]).toMatchObject({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: 'web-',
        namespace: 'default',
        labels: LABELS,
        annotations: { [TRIGGER]: '2026-01-01T00:00:00Z' },
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'Service',
            name: 'web',
            uid: 'uid-web',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          conditions: { ready: true, serving: true, terminating: false },
          targetRef: { kind: 'Pod', namespace: 'default', name: 'web-1', uid: 'uid-web-1' },
          nodeName: 'node-1',
          zone: 'zone-a',
        },
      ],
    });
  });

  test('of a Service without pods is empty and has no ports', () => {
    const { slices, writes, decision } = sync({});
    expect(writes).toEqual(['create 0']);
    expect(slices[0]).toMatchObject({ addressType: 'IPv4', ports: [], endpoints: [] });
    expect(decision.writes.create[0]?.because).toBe('an empty slice stands for no IPv4 endpoints');
    expect(decision.groups).toEqual([{ endpoints: 0, slices: 1 }]);
  });
});

describe('an endpoint', () => {
  const only = (facts: PodFacts, more: Partial<Observed> = {}) =>
    endpointsOf(sync({ pods: [pod('web-1', facts)], ...more }).slices)[0];

  test.each<[string, PodFacts, object, boolean]>([
    ['ready', {}, { ready: true, serving: true, terminating: false }, true],
    ['not ready', { ready: false }, { ready: false, serving: false, terminating: false }, true],
    [
      'being deleted, still serving',
      { deleting: true },
      { ready: false, serving: true, terminating: true },
      true,
    ],
    [
      'being deleted, no longer serving',
      { deleting: true, ready: false },
      { ready: false, serving: false, terminating: true },
      true,
    ],
  ])('of a pod that is %s', (_, facts, conditions, readyIfPublished) => {
    expect(only(facts)?.conditions).toEqual(conditions);
    const published = { service: service({ publishNotReadyAddresses: true }) };
    expect(only(facts, published)?.conditions).toEqual({ ...conditions, ready: readyIfPublished });
  });

  test.each<[string, PodFacts]>([
    ['succeeded', { phase: 'Succeeded' }],
    ['failed', { phase: 'Failed' }],
    ['without an address', { ips: [] }],
    ['without an address of this family', { ips: ['fd00::1'] }],
  ])('no endpoint for a pod that is %s', (_, facts) => {
    expect(only(facts)).toBeUndefined();
  });

  test('each family has its own addresses, in canonical form', () => {
    const ips = ['10.0.0.01', 'FD00:0::1'];
    expect(only({ ips })?.addresses).toEqual(['10.0.0.1']);
    expect(only({ ips }, { family: 'IPv6' })?.addresses).toEqual(['fd00::1']);
  });

  test('has the host name if the Service is the pod’s subdomain', () => {
    expect(only({ spec: { hostname: 'a', subdomain: 'web' } })?.hostname).toBe('a');
    expect(only({ spec: { hostname: 'a', subdomain: 'db' } })).not.toHaveProperty('hostname');
  });

  test('has no zone if the node has none', () => {
    expect(only({}, { zones: new Map([['node-1', '']]) })).not.toHaveProperty('zone');
  });
});

describe('a pod whose node is not there', () => {
  const zones = new Map([['node-1', '']]);
  const lost = [pod('web-1'), pod('web-2', { node: 'gone' })];
  const problem = 'skipping Pod web-2 for Service default/web: Node gone Not Found';

  test('is left out and said so, the others are written', () => {
    const { writes, decision } = sync({ pods: lost, zones });
    expect(writes).toEqual(['create 1']);
    expect(decision.problems).toEqual([problem]);
  });

  test('is taken if not-ready addresses are published', () => {
    const published = service({ publishNotReadyAddresses: true });
    const { writes, decision } = sync({ pods: lost, zones, service: published });
    expect(writes).toEqual(['create 2']);
    expect(decision.problems).toEqual([]);
  });

  test('is taken out of the slice it was in; the last one leaves an empty slice', () => {
    const both = new Map([...zones, ['gone', '']]);
    const slices = slicesOf({ pods: lost, zones: both });
    expect(sync({ pods: lost, zones, slices }).writes).toEqual(['update web-1 1']);
    const none = sync({ pods: lost, zones: new Map(), slices });
    expect(none.writes).toEqual(['update web-1 0']);
    expect(none.decision).toMatchObject({
      removed: 2,
      added: 0,
      problems: [expect.stringContaining('web-1'), problem],
    });
  });
});

describe('leaving alone', () => {
  const all = pods(3);
  const slices = slicesOf({ pods: all });

  test.each<[string, Partial<Observed>]>([
    ['what is right', {}],
    ['pods in another order', { pods: [...all].reverse() }],
    ['a new trigger without a change', { triggerTime: '2026-01-01T00:01:00Z' }],
    [
      'another version of a target',
      {
        slices: slices.map((slice) => ({
          ...slice,
          endpoints: slice.endpoints?.map((endpoint) => ({
            ...endpoint,
            targetRef: { ...endpoint.targetRef, resourceVersion: '9' },
          })),
        })),
      },
    ],
    [
      'labels of the Service that are reserved',
      { service: service({}, { labels: { 'kubernetes.io/service-name': 'bad', ...HEADLESS } }) },
    ],
    ['becoming headless: the label follows with the next change', { service: headless() }],
  ])('%s', (_, facts) => {
    expect(sync({ pods: all, slices, ...facts }).writes).toEqual([]);
  });

  test.each<[string, Partial<EndpointSlice>]>([
    ['as it was written', {}],
    ['as it comes back from the server', { endpoints: undefined, ports: undefined }],
  ])('an empty slice %s', (_, fields) => {
    const [empty] = slicesOf({});
    const { writes, decision } = sync({ slices: [{ ...(empty as EndpointSlice), ...fields }] });
    expect(writes).toEqual([]);
    expect(decision.groups).toEqual([{ endpoints: 0, slices: 1 }]);
  });
});

const HEADLESS = { 'service.kubernetes.io/headless': '' };

function headless(): Service {
  return service({ clusterIP: 'None' });
}

describe('labels', () => {
  test.each<[string, Service, Record<string, string>]>([
    ['of a headless Service', headless(), { ...LABELS, ...HEADLESS }],
    ['of a Service without an IP yet', service({ clusterIP: '' }), { ...LABELS, ...HEADLESS }],
    [
      'mirror those of the Service but for the reserved ones',
      service({}, { labels: { team: 'a', 'kubernetes.io/service-name': 'bad', ...HEADLESS } }),
      { team: 'a', ...LABELS },
    ],
  ])('%s', (_, given, labels) => {
    expect(sync({ service: given, pods: pods(1) }).slices[0]?.metadata.labels).toEqual(labels);
  });

  test('a change updates every slice in place and keeps their endpoints', () => {
    const all = pods(250);
    const slices = slicesOf({ pods: all });
    const labeled = service({}, { labels: { team: 'a' } });
    const { writes, decision, ...after } = sync({ service: labeled, pods: all, slices });
    expect(writes).toEqual(['update web-1 100', 'update web-2 100', 'update web-3 50']);
    expect(decision.writes.update[0]?.because).toBe("labels are not the Service's");
    expect(endpointsOf(after.slices)).toEqual(endpointsOf(slices));
    expect(sync({ service: labeled, pods: all, slices: after.slices }).writes).toEqual([]);
  });

  test('the empty slice is relabeled in place', () => {
    const labeled = service({}, { labels: { team: 'a' } });
    const { writes, slices } = sync({ service: labeled, slices: slicesOf({}) });
    expect(writes).toEqual(['update web-1 0']);
    expect(slices[0]?.metadata.labels).toEqual({ team: 'a', ...LABELS });
  });
});

describe('annotations', () => {
  test('an update sets the trigger time, or takes it away, and keeps the rest', () => {
    const dated = { [TRIGGER]: '2020-01-01T00:00:00Z', team: 'a' };
    const slices = slicesOf({ pods: pods(1) }).map((slice) =>
      withMeta(slice, { annotations: dated }),
    );
    const annotations = (triggerTime: string | undefined) =>
      sync({ pods: pods(2), slices, triggerTime }).slices[0]?.metadata.annotations;
    expect(annotations('2026-01-01T00:01:00Z')).toEqual({
      [TRIGGER]: '2026-01-01T00:01:00Z',
      team: 'a',
    });
    expect(annotations(undefined)).toEqual({ team: 'a' });
  });
});

describe('changes in place', () => {
  const all = pods(3);
  const slices = slicesOf({ pods: all });
  test.each<[string, PodRecord[], string[], string]>([
    [
      'a pod gets unready',
      [...pods(2), pod('web-3', { ready: false })],
      ['update web-1 3'],
      '1 have changed',
    ],
    ['a pod comes', pods(4), ['update web-1 4'], '1 endpoints come'],
    ['a pod goes', pods(2), ['update web-1 2'], '1 go'],
    ['a pod is replaced', [...pods(2), pod('web-9')], ['update web-1 3'], '1 endpoints come, 1 go'],
    [
      'a pod of the same name and address is another one',
      [...pods(2), pod('web-3', { uid: 'other' })],
      ['update web-1 3'],
      '1 have changed',
    ],
    ['a pod moves', [...pods(2), pod('web-3', { ips: ['10.0.0.9'] })], ['update web-1 3'], ''],
  ])('%s', (_, changed, writes, because) => {
    const outcome = sync({ pods: changed, slices });
    expect(outcome.writes).toEqual(writes);
    expect(outcome.decision.writes.update[0]?.because).toContain(because);
    expect(sync({ pods: changed, slices: outcome.slices }).writes).toEqual([]);
  });

  test('the last pod goes: its slice becomes the empty one', () => {
    const { writes, slices: after, decision } = sync({ slices });
    expect(writes).toEqual(['update web-1 0']);
    expect(after[0]).toMatchObject({ ports: [], endpoints: [] });
    expect(decision.writes.update[0]?.because).toBe(
      'slice web-1 has no endpoints left at http:8080/TCP: ' +
        'an empty slice stands for no IPv4 endpoints',
    );
  });

  test('the first pod comes: the empty slice becomes its own', () => {
    const { writes, slices: after } = sync({ pods: pods(1), slices: slicesOf({}) });
    expect(writes).toEqual(['update web-1 1']);
    expect(after[0]?.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
  });

  test('an update carries name, UID and version of the slice', () => {
    const { decision } = sync({ pods: pods(4), slices });
    const { name, uid, resourceVersion } = slices[0]?.metadata ?? {};
    expect(decision.writes.update[0]?.body.metadata).toMatchObject({ name, uid, resourceVersion });
  });
});

describe('ports', () => {
  test('a changed port updates as many slices as there are', () => {
    const slices = slicesOf({ pods: pods(250) });
    const ports = [{ name: 'http', port: 80, targetPort: 8081, protocol: 'TCP' }];
    const after = sync({ service: service({ ports }), pods: pods(250), slices });
    expect(after.writes.every((write) => write.startsWith('update'))).toBe(true);
    expect(lengths(after.slices)).toEqual([100, 100, 50]);
  });

  test('names lead to numbers pod by pod; each set of ports has its own slices', () => {
    const ports = [{ port: 80, targetPort: 'http', protocol: 'TCP' }];
    const all = Array.from({ length: 300 }, (_, at) =>
      pod(`web-${at}`, { ports: { http: 8080 + (at % 5) } }),
    );
    const { slices, decision } = sync({ service: service({ ports }), pods: all });
    expect(lengths(slices)).toEqual([60, 60, 60, 60, 60]);
    expect(
      slices
        .flatMap((slice) => slice.ports ?? [])
        .map(({ port }) => port)
        .sort(),
    ).toEqual([8080, 8081, 8082, 8083, 8084]);
    expect(decision.added).toBe(300);
    expect(decision.groups).toHaveLength(5);
  });

  test('a pod that lacks a named port has an endpoint without it', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
      { name: 'admin', port: 81, targetPort: 'admin', protocol: 'TCP' },
    ];
    const all = [pod('web-1', { ports: { admin: 9090 } }), pod('web-2')];
    const { slices } = sync({ service: service({ ports }), pods: all });
    expect(slices.map((slice) => slice.ports?.length).sort()).toEqual([1, 2]);
  });

  test('headless without ports: endpoints without ports', () => {
    const { slices } = sync({ service: service({ clusterIP: 'None', ports: [] }), pods: pods(2) });
    expect(slices).toHaveLength(1);
    expect(slices[0]).toMatchObject({ ports: [], endpoints: [{}, {}] });
  });

  test('the application protocol is handed on', () => {
    const ports = [{ port: 80, targetPort: 80, protocol: 'TCP', appProtocol: 'http' }];
    const { slices } = sync({ service: service({ ports }), pods: pods(1) });
    expect(slices[0]?.ports).toEqual([
      { name: '', port: 80, protocol: 'TCP', appProtocol: 'http' },
    ]);
  });
});

describe('slices of others', () => {
  test('of a former Service of this name go, and new ones come', () => {
    const [slice] = slicesOf({ pods: pods(1) });
    const foreign = withMeta(slice as EndpointSlice, {
      name: 'old',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: 'former' }],
    });
    expect(sync({ pods: pods(1), slices: [foreign] }).writes).toEqual(['create 1', 'delete old']);
    expect(sync({ slices: [foreign] }).writes).toEqual(['create 0', 'delete old']);
  });

  test('an empty one of a former Service does not stand for this one', () => {
    const [empty] = slicesOf({});
    const foreign = withMeta(empty as EndpointSlice, { name: 'old', ownerReferences: [] });
    expect(sync({ slices: [foreign] }).writes).toEqual(['create 0', 'delete old']);
  });
});

describe('too many slices', () => {
  test('ten slices of thirty stay until they must change, and come together then', () => {
    const all = pods(300);
    const slices = Array.from({ length: 10 }, (_, at) =>
      sliceOf(`web-${at}`, all.slice(at * 30, at * 30 + 30)),
    );
    expect(sync({ pods: all, slices }).writes).toEqual([]);
    const ports = [{ name: 'http', port: 80, targetPort: 8081, protocol: 'TCP' }];
    const after = sync({ service: service({ ports }), pods: all, slices });
    expect(after.writes.filter((write) => write.startsWith('update'))).toHaveLength(3);
    expect(after.writes.filter((write) => write.startsWith('delete'))).toHaveLength(7);
    expect(lengths(after.slices)).toEqual([100, 100, 100]);
  });

  test('an endpoint that stands in two slices is taken out of one', () => {
    const slices = [sliceOf('web-a', pods(2)), sliceOf('web-b', pods(2))];
    const { writes, decision } = sync({ pods: pods(2), slices });
    expect(writes).toEqual(['delete web-b']);
    expect(decision.removed).toBe(2);
  });
});

test.each([50, 80, 150, 200, 250, 251])('at most %d in a slice', (endpointsMax) => {
  const { slices } = sync({ pods: pods(250) }, { ...CONFIG, endpointsMax });
  const full = Math.floor(250 / endpointsMax);
  const rest = 250 % endpointsMax;
  const wanted = [...Array(full).fill(endpointsMax), ...(rest > 0 ? [rest] : [])];
  expect(lengths(slices)).toEqual(wanted);
});
