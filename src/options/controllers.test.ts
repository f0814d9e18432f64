import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { canonicalList, canonicalName, isWanted, selectControllers } from './controllers.ts';
import { KNOWN_CONTROLLERS } from './known-controllers.ts';

const ALL = new Set(KNOWN_CONTROLLERS.map(({ name }) => name));
const noGateOff = (_name: string): boolean => true;

function started(list: readonly string[], gate = noGateOff): readonly string[] {
  return selectControllers(canonicalList(list), gate, ALL).started;
}

describe('known controllers', () => {
  test('52 of them, sorted, no alias twice and none that is a name', () => {
    const names = KNOWN_CONTROLLERS.map(({ name }) => name);
    expect(names).toHaveLength(52);
    expect([...names].sort()).toEqual(names);
    const aliases = KNOWN_CONTROLLERS.flatMap((controller) => controller.aliases);
    expect(new Set([...names, ...aliases]).size).toBe(names.length + aliases.length);
  });

  test.each([
    ['nodeipam', 'node-ipam-controller'],
    ['podgc', 'pod-garbage-collector-controller'],
    ['svm', 'storage-version-migrator-controller'],
    ['resource-claim-controller', 'resourceclaim-controller'],
    ['attachdetach', 'persistentvolume-attach-detach-controller'],
    ['job-controller', 'job-controller'],
  ])('%s means %s', (alias, name) => {
    expect(canonicalName(alias)).toBe(name);
  });
});

describe('--controllers', () => {
  test.each<[string[], string, boolean]>([
    [['*'], 'job-controller', true],
    [['*'], 'bootstrap-signer-controller', false],
    [['*', 'bootstrapsigner'], 'bootstrap-signer-controller', true],
    [['*', '-job'], 'job-controller', false],
    [['-job', '*'], 'job-controller', false],
    [['job', '-job'], 'job-controller', true],
    [['-job', 'job'], 'job-controller', false],
    [['ttl'], 'job-controller', false],
    [['ttl'], 'ttl-controller', true],
    [[], 'job-controller', false],
    [['-ttl'], 'job-controller', false],
    [[], 'serviceaccount-token-controller', true],
    [['*', '-serviceaccount-token'], 'serviceaccount-token-controller', true],
  ])('%j: %s %p', (list, name, wanted) => {
    expect(started(list).includes(name)).toBe(wanted);
  });

  test('the first entry that names a controller decides, else the star and its default', () => {
    const names = KNOWN_CONTROLLERS.flatMap(({ name, aliases }) => [name, ...aliases]);
    const entry = fc.oneof(
      fc.constant('*'),
      fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...names)).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 12 }), (entries) => {
        const list = canonicalList(entries);
        for (const controller of KNOWN_CONTROLLERS) {
          const { name, enabledByDefault } = controller;
          const first = list.find((text) => text.replace(/^-/, '') === name);
          const byDefault = list.includes('*') && enabledByDefault;
          const wanted = first === undefined ? byDefault : !first.startsWith('-');
          const always = name === 'serviceaccount-token-controller';
          expect(isWanted(list, controller)).toBe(always || wanted);
        }
      }),
    );
  });

  test('eviction by taints is a part of the node lifecycle while its gate is off', () => {
    const isOn = (list: string[], gate = noGateOff): boolean =>
      started(list, gate).includes('taint-eviction-controller');
    const off = (name: string): boolean => name !== 'SeparateTaintEvictionController';
    const apart = [
      ['*'],
      ['*', '-nodelifecycle'],
      ['*', '-taint-eviction-controller'],
      ['nodelifecycle'],
    ];
    expect(apart.map((list) => isOn(list))).toEqual([true, true, false, false]);
    expect(apart.map((list) => isOn(list, off))).toEqual([true, false, true, true]);
  });

  test('every known controller is either started or skipped with a reason', () => {
    const { started: running, skipped } = selectControllers(
      ['*', '-job-controller', 'service-lb-controller'],
      (gate) => gate !== 'DRADeviceTaints',
      new Set(['deployment-controller', 'service-lb-controller']),
    );
    expect(running).toEqual(['deployment-controller']);
    expect(running.length + skipped.length).toBe(KNOWN_CONTROLLERS.length);
    const reason = (name: string) => skipped.find((entry) => entry.name === name);
    expect(reason('job-controller')).toMatchObject({
      because: 'disabled by --controllers',
      notAvailable: false,
    });
    expect(reason('service-lb-controller')).toMatchObject({
      because: 'it lives in cloud-controller-manager',
      notAvailable: false,
    });
    expect(reason('device-taint-eviction-controller')).toMatchObject({
      because: 'feature gate DRADeviceTaints is off',
      notAvailable: false,
    });
    expect(reason('ttl-controller')).toMatchObject({
      because: 'not available in this version',
      notAvailable: true,
    });
    expect(reason('token-cleaner-controller')?.notAvailable).toBe(false);
  });
});
