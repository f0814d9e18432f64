import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type {
  EndpointAddress,
  EndpointSlice,
  EndpointSubset,
  Endpoints,
  ObjectMeta,
  SubsetPort,
} from '../../api/types/index.ts';
import type { SliceBody } from '../_kit/slices/write.ts';
import { decide, mayMirror } from './decide.ts';

const HTTP: SubsetPort = { name: 'http', port: 80, protocol: 'TCP' };
const HTTPS: SubsetPort = { name: 'https', port: 443, protocol: 'UDP' };
const LABELS = {
  'kubernetes.io/service-name': 'db',
  'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
};
const MAX = 1000;

function endpoints(subsets: readonly EndpointSubset[], meta: Partial<ObjectMeta> = {}): Endpoints {
  return {
    metadata: { name: 'db', namespace: 'ns', uid: 'uid-db', resourceVersion: '3', ...meta },
    subsets,
  };
}

function at(...ips: string[]): EndpointAddress[] {
  return ips.map((ip) => ({
    ip,
    hostname: `host-${ip.replaceAll(/\W/g, '-')}`,
    nodeName: 'node-1',
  }));
}

/** Carries the writes out: the slices afterwards, and the writes as "update a 2". */
function sync(given: Endpoints, slices: readonly EndpointSlice[] = [], addressesMax = MAX) {
  const decision = decide({ endpoints: given, slices }, addressesMax);
  const left = new Map(slices.map((slice) => [slice.metadata.name, slice]));
  const writes: string[] = [];
  for (const { slice } of decision.writes.remove) {
    left.delete(slice.metadata.name);
    writes.push(`delete ${slice.metadata.name}`);
  }
  for (const { body } of decision.writes.update) {
    const { name = '' } = body.metadata;
    left.set(name, asStored(body, name));
    writes.push(`update ${name} ${body.endpoints?.length}`);
  }
  for (const { body } of decision.writes.create) {
    const letter = [...'abcdefgh'].find((one) => !left.has(`${body.metadata.generateName}${one}`));
    const name = `${body.metadata.generateName}${letter}`;
    left.set(name, asStored(body, name));
    writes.push(`create ${body.addressType} ${body.endpoints?.length}`);
  }
  return { decision, slices: [...left.values()], writes: writes.sort() };
}

function asStored(body: SliceBody, name: string): EndpointSlice {
  const { uid = `uid-${name}`, resourceVersion = '1' } = body.metadata;
  return { ...body, metadata: { ...body.metadata, name, uid, resourceVersion } };
}

/** "IPv4 10.0.0.1 -10.0.0.2 http:80": family, ready, not ready, ports. */
function short(slices: readonly EndpointSlice[]): string[] {
  const texts = slices.map(({ addressType, endpoints: list, ports }) =>
    [
      addressType,
      ...(list ?? []).map(({ addresses, conditions }) =>
        conditions?.ready ? addresses[0] : `-${addresses[0]}`,
      ),
      ...(ports ?? []).map(({ name, port }) => `${name}:${port}`),
    ].join(' '),
  );
  return texts.sort();
}

describe('what is mirrored', () => {
  test.each<[string, EndpointSubset[], string[]]>([
    ['nothing', [], []],
    ['a subset without addresses', [{ ports: [HTTP] }], []],
    ['one address', [{ addresses: at('10.0.0.1'), ports: [HTTP] }], ['IPv4 10.0.0.1 http:80']],
    [
      'two subsets with other ports and addresses',
      [
        { addresses: at('10.0.0.1'), ports: [HTTP] },
        { addresses: at('10.0.0.2'), ports: [HTTPS] },
      ],
      ['IPv4 10.0.0.1 http:80', 'IPv4 10.0.0.2 https:443'],
    ],
    [
      'two subsets with the same address become one slice',
      [
        { addresses: at('10.0.0.1'), ports: [HTTPS] },
        { addresses: at('10.0.0.1'), ports: [HTTP] },
      ],
      ['IPv4 10.0.0.1 http:80 https:443'],
    ],
    [
      'two subsets with the same port become one slice',
      [
        { addresses: at('10.0.0.2'), ports: [HTTP] },
        { addresses: at('10.0.0.1'), ports: [HTTP] },
      ],
      ['IPv4 10.0.0.1 10.0.0.2 http:80'],
    ],
    [
      'ready and not ready ones',
      [{ addresses: at('10.0.0.1'), notReadyAddresses: at('10.0.0.2'), ports: [HTTP] }],
      ['IPv4 10.0.0.1 -10.0.0.2 http:80'],
    ],
    [
      'each family apart',
      [{ addresses: at('10.0.0.1', 'FD00::0:1', '10.0.0.2'), ports: [HTTP] }],
      ['IPv4 10.0.0.1 10.0.0.2 http:80', 'IPv6 fd00::1 http:80'],
    ],
    ['addresses without ports', [{ addresses: at('10.0.0.1') }], ['IPv4 10.0.0.1']],
    ['nothing that is no IP', [{ addresses: at('db.local'), ports: [HTTP] }], []],
  ])('%s', (_, subsets, wanted) => {
    const { slices } = sync(endpoints(subsets));
    expect(
      short(slices).map((text) => text.replace('https:443 http:80', 'http:80 https:443')),
    ).toEqual(wanted);
    expect(sync(endpoints(subsets), slices).writes).toEqual([]);
  });

  test('an endpoint has host name, node and target, its readiness alone, and no zone', () => {
    const targetRef = { kind: 'Pod', namespace: 'ns', name: 'db-0', uid: 'p' };
    const address = { ip: '10.0.0.1', hostname: 'db-0', nodeName: 'node-1', targetRef };
    const { slices } = sync(endpoints([{ addresses: [address], ports: [HTTP] }]));
    expect(slices[0]?.endpoints).toEqual([
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true },
        hostname: 'db-0',
        nodeName: 'node-1',
        targetRef,
      },
    ]);
  });

  test('a slice is owned by the Endpoints and carries their labels and annotations', () => {
    const given = endpoints([{ addresses: at('10.0.0.1'), ports: [HTTP] }], {
      labels: { team: 'a' },
      annotations: {
        note: 'x',
        'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
      },
    });
    expect(sync(given).slices[0]).toMatchObject({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: 'db-',
        namespace: 'ns',
        labels: { team: 'a', ...LABELS },
        annotations: { note: 'x' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: 'uid-db', controller: true },
        ],
      },
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    });
  });
});

describe('whether it is mirrored at all', () => {
  test.each<[Partial<ObjectMeta>, boolean]>([
    [{}, true],
    [{ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, false],
    [{ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'false' } }, true],
    [{ annotations: { 'control-plane.alpha.kubernetes.io/leader': '' } }, false],
  ])('%p: %p', (meta, mirrored) => {
    expect(mayMirror(endpoints([], meta))).toBe(mirrored);
  });
});

describe('a stored slice', () => {
  const subsets = [{ addresses: at('10.0.0.1', '10.0.0.2'), ports: [HTTP] }];
  const given = endpoints(subsets, { labels: { team: 'a' }, annotations: { note: 'x' } });
  const { slices } = sync(given);
  const changed = (meta: Partial<ObjectMeta>): EndpointSlice[] =>
    slices.map((slice) => ({ ...slice, metadata: { ...slice.metadata, ...meta } }));

  test.each<[string, Endpoints, EndpointSlice[], string]>([
    [
      'lacks an address',
      endpoints(
        [{ ...subsets[0], addresses: at('10.0.0.1', '10.0.0.2', '10.0.0.3') }],
        given.metadata,
      ),
      slices,
      '1 endpoints come',
    ],
    [
      'has one too many',
      endpoints([{ ...subsets[0], addresses: at('10.0.0.1') }], given.metadata),
      slices,
      '1 go',
    ],
    [
      'holds another readiness',
      endpoints([{ notReadyAddresses: subsets[0]?.addresses, ports: [HTTP] }], given.metadata),
      slices,
      '2 have changed',
    ],
    ['lacks a label', given, changed({ labels: LABELS }), 'labels are not those of the Endpoints'],
    ['has a label too many', endpoints(subsets, { annotations: { note: 'x' } }), slices, 'labels'],
    ['lacks an annotation', given, changed({ annotations: {} }), 'annotations are not those'],
    [
      'has an annotation too many',
      given,
      changed({ annotations: { note: 'x', more: '' } }),
      'annotations',
    ],
    [
      'belongs to former Endpoints',
      given,
      changed({
        ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name: 'db', uid: 'old' }],
      }),
      'it belongs to former Endpoints',
    ],
  ])('that %s is written anew under its name', (_, wanted, stored, because) => {
    const { decision, ...after } = sync(wanted, stored);
    expect(after.writes).toHaveLength(1);
    expect(after.writes[0]).toStartWith('update db-a');
    const { body, because: told } = decision.writes.update[0]!;
    expect(told).toContain(because);
    const { name, uid, resourceVersion } = slices[0]!.metadata;
    expect(body.metadata).toMatchObject({ name, uid, resourceVersion });
    expect(body.metadata).not.toHaveProperty('generateName');
    expect(sync(wanted, after.slices).writes).toEqual([]);
  });

  test('that is right is only noted', () => {
    const { decision, writes } = sync(given, slices);
    expect(writes).toEqual([]);
    expect(decision.right).toEqual(slices);
    expect(decision.totals).toEqual({ added: 0, updated: 0, removed: 0 });
  });

  test('that holds an endpoint twice is written anew', () => {
    const [slice] = slices;
    const twice = { ...slice!, endpoints: [...slice!.endpoints!, slice!.endpoints![0]!] };
    expect(sync(given, [twice]).writes).toEqual(['update db-a 2']);
  });

  test('as it comes back from the server, without lists', () => {
    const empty = { ...slices[0]!, endpoints: undefined, ports: undefined };
    expect(sync(given, [empty]).writes).toEqual(['update db-a 2']);
  });
});

describe('slices too many', () => {
  const one = endpoints([{ addresses: at('10.0.0.1'), ports: [HTTP] }]);
  test('of the same ports go', () => {
    const [slice] = sync(one).slices;
    const copies = ['a', 'b', 'c'].map((name) => ({
      ...slice!,
      metadata: { ...slice!.metadata, name, uid: name },
    }));
    expect(sync(one, copies).writes).toEqual(['delete b', 'delete c']);
  });

  test('of other ports are used for new ones of their family', () => {
    const { slices } = sync(endpoints([{ addresses: at('10.0.0.1', 'fd00::1'), ports: [HTTP] }]));
    const { writes, decision } = sync(
      endpoints([{ addresses: at('10.0.0.1'), ports: [HTTPS] }]),
      slices,
    );
    expect(writes).toEqual(['delete db-b', 'update db-a 1']);
    expect(decision.totals).toEqual({ added: 1, updated: 0, removed: 0 });
  });

  test('of nothing go', () => {
    const { slices } = sync(one);
    const { writes, decision } = sync(endpoints([]), slices);
    expect(writes).toEqual(['delete db-a']);
    expect(decision.groups).toEqual([]);
  });
});

describe('bounds', () => {
  const many = [
    {
      addresses: at('10.0.0.1', '10.0.0.2', 'bad', '10.0.0.3'),
      notReadyAddresses: at('10.0.0.4'),
      ports: [HTTP],
    },
  ];
  test('ready ones come first, what is left out is told', () => {
    const { slices, decision } = sync(endpoints(many), [], 3);
    expect(short(slices)).toEqual(['IPv4 10.0.0.1 10.0.0.2 10.0.0.3 http:80']);
    expect(decision.skipped).toBe(2);
    expect(decision.events).toEqual([
      {
        reason: 'TooManyAddressesToMirror',
        message:
          'A max of 3 addresses can be mirrored to EndpointSlices per Endpoints subset. ' +
          '2 addresses were skipped',
      },
    ]);
  });

  test('invalid ones are told, and do not count', () => {
    const { slices, decision } = sync(endpoints(many), [], 4);
    expect(short(slices)).toEqual(['IPv4 10.0.0.1 10.0.0.2 10.0.0.3 -10.0.0.4 http:80']);
    expect(decision.events).toEqual([
      {
        reason: 'InvalidIPAddress',
        message: 'Skipped 1 invalid IP addresses when mirroring to EndpointSlices',
      },
    ]);
  });
});

test('whatever Endpoints become, every address stands in one slice, and a second sync writes nothing', () => {
  const ip = fc.oneof(
    fc.integer({ min: 1, max: 6 }).map((host) => `10.0.0.${host}`),
    fc.integer({ min: 1, max: 3 }).map((host) => `fd00::${host}`),
  );
  const subset = fc.record({
    addresses: fc.uniqueArray(ip, { maxLength: 5 }).map((ips) => at(...ips)),
    notReadyAddresses: fc.uniqueArray(ip, { maxLength: 3 }).map((ips) => at(...ips)),
    ports: fc.subarray([HTTP, HTTPS], { minLength: 1 }),
  });
  const history = fc.array(fc.array(subset, { maxLength: 3 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(history, (worlds) => {
      let slices: readonly EndpointSlice[] = [];
      for (const subsets of worlds) {
        const given = endpoints(subsets);
        const outcome = sync(given, slices);
        expect(sync(given, outcome.slices).writes).toEqual([]);
        const offered = outcome.slices.flatMap(({ endpoints: list, ports }) =>
          (list ?? []).flatMap(({ addresses }) =>
            (ports ?? []).map(({ name }) => `${addresses[0]} ${name}`),
          ),
        );
        const wanted = subsets.flatMap(({ addresses, notReadyAddresses, ports }) =>
          [...addresses, ...notReadyAddresses].flatMap((address) =>
            ports.map(({ name }) => `${address.ip} ${name}`),
          ),
        );
        expect(offered.sort()).toEqual([...new Set(wanted)].sort());
        slices = outcome.slices;
      }
    }),
  );
});
