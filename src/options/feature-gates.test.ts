import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GateErrors, resolveGates } from './feature-gates.ts';
import { FLAGS } from './flags.ts';
import { GATE_NEEDS } from './gate-needs.ts';
import { KINDS } from './kinds.ts';
import { KNOWN_CONTROLLERS } from './known-controllers.ts';
import { checkVersions, DEFAULT_VERSIONS, resolveVersions } from './versions.ts';

function gates(text: string, versions = DEFAULT_VERSIONS) {
  return resolveGates(KINDS.prefixed.parse(text, undefined), versions);
}

function errorsOf(text: string): readonly string[] {
  try {
    gates(text);
  } catch (error) {
    if (error instanceof GateErrors) return error.messages;
    throw error;
  }
  return [];
}

describe('feature gates', () => {
  test('the defaults of 1.36', () => {
    const none = gates('');
    const enabled = (name: string) => none.enabled(name);
    expect(['PodDeletionCost', 'VolumeAttributesClass', 'HPAScaleToZero'].map(enabled)).toEqual([
      true,
      true,
      false,
    ]);
    expect(none.all().filter(({ stage }) => stage === 'pre-alpha')).toEqual([]);
    expect(none.warnings).toEqual([]);
  });

  test.each<[string[], Record<string, boolean>]>([
    [
      ['AllAlpha=true', 'HPAScaleToZero=false', 'PodDeletionCost=false'],
      { QOSReserved: true, HPAScaleToZero: false, PodDeletionCost: false, AtomicFIFO: true },
    ],
    [
      ['AllBeta=false', 'AtomicFIFO=true', 'HPAScaleToZero=true'],
      { QOSReserved: false, HPAScaleToZero: true, PodDeletionCost: false, AtomicFIFO: true },
    ],
  ])('%j sets what is not set by name, whatever the order', (all, expected) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (texts) => {
        const set = gates(texts.join(','));
        const names = Object.keys(expected);
        expect(Object.fromEntries(names.map((name) => [name, set.enabled(name)]))).toEqual(
          expected,
        );
      }),
    );
  });

  test('what needs others can only be on with them', () => {
    for (const [name, needs] of Object.entries(GATE_NEEDS)) {
      const free = needs.filter((need) =>
        errorsOf(`${need}=false`).every((e) => !/locked/.test(e)),
      );
      for (const need of free) {
        const errors = errorsOf(`${name}=true,${need}=false`);
        const head = `${name} is enabled, but depends on features that are disabled: [`;
        expect(errors.some((error) => error.startsWith(head) && error.includes(need))).toBe(true);
      }
    }
  });

  test('gates that will go away and alpha ones are warned of', () => {
    expect(gates('VolumeAttributesClass=true,KMSv1=true,QOSReserved=true').warnings).toEqual([
      'setting GA feature gate VolumeAttributesClass=true. It will be removed in a future release.',
      'setting deprecated feature gate KMSv1=true. It will be removed in a future release.',
      'component has alpha features enabled in emulated version, this is unsupported: QOSReserved',
    ]);
  });

  test('an older version has its own defaults', () => {
    const old = gates('', resolveVersions(['1.34'], []));
    expect(old.enabled('ComponentFlagz')).toBe(false);
    expect(old.enabled('AtomicFIFO')).toBe(false);
    expect(old.all().map(({ name }) => name)).not.toContain('AtomicFIFO');
  });

  test('a name that is no gate is a mistake of the program', () => {
    expect(() => gates('').enabled('Nope')).toThrow('feature gate Nope is not known');
  });

  test('every gate that a controller needs is known', () => {
    const none = gates('');
    for (const gate of KNOWN_CONTROLLERS.flatMap((controller) => controller.gates)) {
      expect(typeof none.enabled(gate)).toBe('boolean');
    }
  });

  test('help lists them sorted', () => {
    const help = FLAGS.get('feature-gates')?.help.split('\n') ?? [];
    const lines = help.filter((line) => line.startsWith('kube:'));
    expect(lines.length).toBeGreaterThan(100);
    expect([...lines].sort()).toEqual(lines);
  });
});

describe('versions', () => {
  test('the second version follows the first, down to the oldest that is known', () => {
    const text = (emulated: string[], compatible: string[] = []) => {
      const { emulation, minCompatibility } = resolveVersions(emulated, compatible);
      return `${emulation.minor} ${minCompatibility.minor}`;
    };
    expect(text([])).toBe('36 35');
    expect(text(['1.35'])).toBe('35 34');
    expect(text(['kube=1.33'])).toBe('33 33');
    expect(text(['1.35'], ['1.33'])).toBe('35 33');
    expect(text([], ['1.36'])).toBe('36 36');
  });

  test('every emulated version from 1.33 to 1.36 is in range with what may stand below it', () => {
    for (let emulated = 33; emulated <= 36; emulated += 1) {
      for (let compatible = 30; compatible <= 38; compatible += 1) {
        const versions = resolveVersions([`1.${emulated}`], [`1.${compatible}`]);
        const fits = compatible >= 33 && compatible <= emulated;
        expect(checkVersions(versions).length === 0).toBe(fits);
      }
    }
  });
});
