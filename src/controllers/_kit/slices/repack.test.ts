import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { EndpointAddress, EndpointSubset, SlicePort } from '../../../api/types/index.ts';
import { byHash, dumpSlicePort } from './go-dump.ts';
import { repackSubsets } from './repack.ts';

/** What the reference answered; made by test/rig/gen/slices. */
function golden<T>(name: string): { given: T[]; wanted: T[] }[] {
  const text = readFileSync(join(import.meta.dir, 'testdata', `${name}-v1.36.3.jsonl`), 'utf8');
  const cases = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return cases.map(({ given, wanted }) => ({ given: given ?? [], wanted: wanted ?? [] }));
}

describe('as the reference', () => {
  test('subsets are repacked and ordered', () => {
    const cases = golden<EndpointSubset>('subsets');
    expect(cases.length).toBeGreaterThan(20);
    for (const { given, wanted } of cases) expect(repackSubsets(given)).toEqual(wanted);
  });

  test('the ports of slices are ordered', () => {
    const cases = golden<SlicePort>('ports');
    expect(cases.length).toBeGreaterThan(20);
    for (const { given, wanted } of cases) expect(byHash(given, dumpSlicePort)).toEqual(wanted);
  });
});

const HTTP = { name: 'http', port: 80, protocol: 'TCP' };
const DNS = { name: 'dns', port: 53, protocol: 'UDP' };

function at(...hosts: number[]): EndpointAddress[] {
  return hosts.map((host) => ({ ip: `10.0.0.${host}` }));
}

describe('repacking', () => {
  test.each<[string, EndpointSubset[], EndpointSubset[]]>([
    ['nothing', [], []],
    ['a subset without addresses', [{ ports: [HTTP] }], []],
    ['an address without ports', [{ addresses: at(1) }], [{ addresses: at(1) }]],
    [
      'the same ports in two subsets',
      [
        { addresses: at(2), ports: [HTTP] },
        { addresses: at(1), ports: [HTTP] },
      ],
      [{ addresses: at(1, 2), ports: [HTTP] }],
    ],
    [
      'the same address twice',
      [
        { addresses: at(1), ports: [HTTP] },
        { addresses: at(1), ports: [HTTP] },
      ],
      [{ addresses: at(1), ports: [HTTP] }],
    ],
    [
      'ready and not ready at once',
      [
        { addresses: at(1), ports: [HTTP] },
        { notReadyAddresses: at(1), ports: [HTTP] },
      ],
      [{ notReadyAddresses: at(1), ports: [HTTP] }],
    ],
    [
      'not ready and then ready',
      [
        { notReadyAddresses: at(1), ports: [HTTP] },
        { addresses: at(1), ports: [HTTP] },
      ],
      [{ notReadyAddresses: at(1), ports: [HTTP] }],
    ],
    [
      'one IP of two pods',
      [
        { addresses: [{ ip: '10.0.0.1', targetRef: { uid: 'b' } }], ports: [HTTP] },
        { addresses: [{ ip: '10.0.0.1', targetRef: { uid: 'a' } }], ports: [HTTP] },
      ],
      [
        {
          addresses: [
            { ip: '10.0.0.1', targetRef: { uid: 'a' } },
            { ip: '10.0.0.1', targetRef: { uid: 'b' } },
          ],
          ports: [HTTP],
        },
      ],
    ],
  ])('%s', (_, given, wanted) => {
    expect(repackSubsets(given)).toEqual(wanted);
  });

  test('two ports of the same places come together, a place that offers one stands apart', () => {
    const repacked = repackSubsets([
      { addresses: at(1, 2), ports: [HTTP] },
      { addresses: at(2), ports: [DNS] },
      { addresses: at(1), ports: [DNS] },
      { addresses: at(3), ports: [HTTP] },
    ]);
    expect(repacked).toHaveLength(2);
    expect(repacked).toContainEqual({ addresses: at(1, 2), ports: [DNS] });
    expect(repacked).toContainEqual({ addresses: at(1, 2, 3), ports: [HTTP] });
  });

  const address = fc.record(
    {
      ip: fc.integer({ min: 1, max: 5 }).map((host) => `10.0.0.${host}`),
      targetRef: fc.constantFrom({ uid: 'a' }, { uid: 'b' }),
    },
    { requiredKeys: ['ip'] },
  );
  const subsets = fc.array(
    fc.record({
      addresses: fc.array(address, { maxLength: 4 }),
      notReadyAddresses: fc.array(address, { maxLength: 4 }),
      ports: fc.subarray([HTTP, DNS, { name: 'other', port: 1, protocol: 'TCP' }]),
    }),
    { maxLength: 4 },
  );

  test('repacking again changes nothing, and the order of subsets does not matter', () => {
    fc.assert(
      fc.property(subsets, (given) => {
        const once = repackSubsets(given);
        expect(repackSubsets(once)).toEqual(once);
        expect(places(repackSubsets([...given].reverse()))).toEqual(places(once));
      }),
    );
  });

  test('no address is lost or offered twice for a port', () => {
    fc.assert(
      fc.property(subsets, (given) => {
        const after = places(repackSubsets(given));
        expect(new Set(after).size).toBe(after.length);
        expect(new Set(after)).toEqual(new Set(places(given)));
      }),
    );
  });
});

function places(subsets: readonly EndpointSubset[]): string[] {
  return subsets
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      [...addresses, ...notReadyAddresses].flatMap(({ ip, targetRef }) =>
        (ports.length === 0 ? [{ name: '' }] : ports).map(
          ({ name }) => `${ip} ${targetRef?.uid ?? ''} ${name}`,
        ),
      ),
    )
    .sort();
}
