import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndpointSubset, Service } from '../../api/types/index.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { type PodFacts, pod, pods, service } from '../_kit/slices/testing/build.ts';
import { countAddresses, subsetsOf, truncated } from './subsets.ts';

/** "10.0.0.1" ready, "-10.0.0.1" not; then the ports: "10.0.0.1 -10.0.0.2 http:8080". */
function short(subsets: readonly EndpointSubset[]): string[] {
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    [
      ...addresses.map(({ ip }) => ip),
      ...notReadyAddresses.map(({ ip }) => `-${ip}`),
      ...ports.map(({ name = '', port }) => `${name}:${port}`),
    ].join(' '),
  );
}

describe('which pods count', () => {
  const published = service({ publishNotReadyAddresses: true });
  test.each<[string, PodFacts, string[], string[]]>([
    ['ready', {}, ['10.0.0.1 http:8080'], ['10.0.0.1 http:8080']],
    ['not ready', { ready: false }, ['-10.0.0.1 http:8080'], ['10.0.0.1 http:8080']],
    ['ready, being deleted', { deleting: true }, [], ['10.0.0.1 http:8080']],
    ['not ready, being deleted', { deleting: true, ready: false }, [], ['10.0.0.1 http:8080']],
    ['pending', { phase: 'Pending' }, ['10.0.0.1 http:8080'], ['10.0.0.1 http:8080']],
    ['unknown', { phase: 'Unknown' }, ['10.0.0.1 http:8080'], ['10.0.0.1 http:8080']],
    ['succeeded', { phase: 'Succeeded', ready: false }, [], []],
    ['failed', { phase: 'Failed', ready: false }, [], []],
    ['failed, being deleted', { phase: 'Failed', deleting: true }, [], []],
    ['without an address', { ips: [] }, [], []],
  ])('%s', (_, facts, wanted, wantedIfPublished) => {
    expect(short(subsetsOf(service(), [pod('web-1', facts)]))).toEqual(wanted);
    expect(short(subsetsOf(published, [pod('web-1', facts)]))).toEqual(wantedIfPublished);
  });
});

describe('the address of a pod', () => {
  const dual = { ips: ['10.0.0.1', 'fd00::1'] };
  test.each<[string, Partial<Service['spec']>, PodFacts, string | undefined]>([
    ['IPv4 Service', { ipFamilies: ['IPv4'] }, dual, '10.0.0.1'],
    ['IPv6 Service', { ipFamilies: ['IPv6'] }, dual, 'fd00::1'],
    ['first of two families', { ipFamilies: ['IPv6', 'IPv4'] }, dual, 'fd00::1'],
    ['none of that family', { ipFamilies: ['IPv6'] }, { ips: ['10.0.0.1'] }, undefined],
    ['no family, IPv6 cluster IP', { ipFamilies: [], clusterIP: 'fd00::10' }, dual, 'fd00::1'],
    ['no family, IPv4 cluster IP', { ipFamilies: undefined }, dual, '10.0.0.1'],
    [
      'no family, headless: as the pod',
      { ipFamilies: [], clusterIP: 'None' },
      { ips: ['fd00::1'] },
      'fd00::1',
    ],
    ['an IP in another form', {}, { ips: ['010.000.0.01'] }, '10.0.0.1'],
  ])('%s', (_, spec, facts, ip) => {
    const [subset] = subsetsOf(service(spec), [pod('web-1', facts)]);
    expect(subset?.addresses?.[0]?.ip).toBe(ip as string);
  });

  test('names pod, node, and the host name if the Service is its subdomain', () => {
    const of = (facts: PodFacts) =>
      subsetsOf(service(), [pod('web-1', facts)])[0]?.addresses as object[];
    const plain = {
      ip: '10.0.0.1',
      nodeName: 'node-1',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'web-1', uid: 'uid-web-1' },
    };
    expect(of({})).toEqual([plain]);
    expect(of({ spec: { hostname: 'a', subdomain: 'web' } })).toEqual([
      { ...plain, hostname: 'a' },
    ]);
    expect(of({ spec: { hostname: 'a', subdomain: 'other' } })).toEqual([plain]);
    expect(of({ spec: { subdomain: 'web' } })).toEqual([plain]);
  });
});

describe('ports', () => {
  test('headless without ports: addresses alone; with a cluster IP: nothing', () => {
    const ports: [] = [];
    expect(short(subsetsOf(service({ clusterIP: 'None', ports }), pods(2)))).toEqual([
      '10.0.0.1 10.0.0.2',
    ]);
    expect(subsetsOf(service({ ports }), pods(2))).toEqual([]);
  });

  test('a name is looked up in each pod; a pod without it is left out for that port', () => {
    const wanted = service({
      ports: [
        { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' },
        { name: 'admin', port: 81, targetPort: 'admin', protocol: 'TCP' },
      ],
    });
    const subsets = subsetsOf(wanted, [
      pod('web-1', { ports: { web: 8080, admin: 9090 } }),
      pod('web-2', { ports: { web: 8081 } }),
      pod('web-3', { ports: { web: 8080, admin: 9091 } }),
      pod('web-4', { ports: { other: 1 } }),
      pod('web-5'),
    ]);
    expect(short(subsets).sort()).toEqual([
      '10.0.0.1 10.0.0.3 http:8080',
      '10.0.0.1 admin:9090',
      '10.0.0.2 http:8081',
      '10.0.0.3 admin:9091',
    ]);
  });

  test('a name counts with its protocol', () => {
    const ports = [{ port: 53, targetPort: 'dns', protocol: 'UDP' }];
    expect(subsetsOf(service({ ports }), [pod('web-1', { ports: { dns: 53 } })])).toEqual([]);
  });

  test('protocol and application protocol are those of the Service; an empty name is left out', () => {
    const ports = [
      { port: 80, targetPort: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c', name: '' },
    ];
    expect(subsetsOf(service({ ports }), pods(1))[0]?.ports).toEqual([
      { port: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
    ]);
  });

  test('two protocols on one number are two ports', () => {
    const ports = ['TCP', 'UDP'].map((protocol) => ({
      name: protocol.toLowerCase(),
      port: 53,
      targetPort: 53,
      protocol,
    }));
    expect(subsetsOf(service({ ports }), pods(1))[0]?.ports).toHaveLength(2);
  });
});

describe('over capacity', () => {
  function counted(ready: number[], notReady: number[]): [number[], number[]] {
    const address = { ip: '10.0.0.1' };
    const subsets = ready.map((count, at) => ({
      addresses: Array(count).fill(address),
      notReadyAddresses: Array(notReady[at] ?? 0).fill(address),
    }));
    const cut = truncated(subsets) ?? subsets;
    return [
      cut.map(({ addresses = [] }) => addresses.length),
      cut.map(({ notReadyAddresses = [] }) => notReadyAddresses.length),
    ];
  }

  test.each<[string, number[], number[], number[], number[]]>([
    ['nothing', [], [], [], []],
    ['below', [50, 100, 100], [50, 100, 100], [50, 100, 100], [50, 100, 100]],
    ['just full', [500], [500], [500], [500]],
    ['one too many of those not ready', [500], [501], [500], [500]],
    [
      'ready ones stay, others by their share',
      [90, 110, 50, 10, 20],
      [101, 200, 200, 201, 298],
      [90, 110, 50, 10, 20],
      [73, 144, 144, 145, 214],
    ],
    [
      'too many ready ones: by their share, and no others',
      [205, 400, 402, 400, 693],
      [100, 200, 200, 200, 300],
      [98, 191, 192, 191, 328],
      [0, 0, 0, 0, 0],
    ],
    ['full of ready ones', [1000], [10], [1000], [0]],
  ])('%s', (_, ready, notReady, wantedReady, wantedNotReady) => {
    expect(counted(ready, notReady)).toEqual([wantedReady, wantedNotReady]);
  });

  test('whatever comes in, at most 1000 come out, and as many as there is room for', () => {
    const counts = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 6 });
    fc.assert(
      fc.property(counts, counts, (ready, notReady) => {
        const [left, others] = counted(ready, notReady);
        const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
        const all = sum(ready) + sum(notReady.slice(0, ready.length));
        expect(sum(left) + sum(others)).toBe(Math.min(1000, all));
        expect(sum(left)).toBe(Math.min(1000, sum(ready)));
      }),
    );
  });
});

test('no pod is lost or doubled, whatever ports the pods have', () => {
  const facts = fc.record({
    ready: fc.boolean(),
    ports: fc
      .subarray(['web', 'admin'])
      .map((names) => Object.fromEntries(names.map((name, at) => [name, 8080 + at]))),
  });
  const wanted = service({
    ports: ['web', 'admin'].map((name) => ({ name, port: 80, targetPort: name, protocol: 'TCP' })),
  });
  fc.assert(
    fc.property(fc.array(facts, { maxLength: 12 }), (list) => {
      const all: PodRecord[] = list.map((one, at) => pod(`web-${at + 1}`, one));
      const subsets = subsetsOf(wanted, all);
      const offered = all.filter(({ namedPorts }) => namedPorts.length > 0);
      const ips = subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) =>
        [...addresses, ...notReadyAddresses].map(({ ip }) => ip),
      );
      expect(new Set(ips)).toEqual(new Set(offered.flatMap(({ podIps }) => podIps)));
      const { ready, notReady } = countAddresses(subsets);
      expect(ready + notReady).toBe(ips.length);
      expect(subsetsOf(wanted, [...all].reverse())).toEqual(subsets);
    }),
  );
});
