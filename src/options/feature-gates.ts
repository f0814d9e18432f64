/** Feature gates: which are known, and what --feature-gates makes of them, as component-base does. */
import { GATE_NEEDS } from './gate-needs.ts';
import { GATES_AK } from './gates-ak.ts';
import { GATES_LZ } from './gates-lz.ts';
import { parseBool, ValueError } from './go/number.ts';
import type { PrefixedText } from './kinds.ts';
import {
  compareMinor,
  DEFAULT_VERSIONS,
  type EffectiveVersions,
  type MinorVersion,
  minorText,
} from './versions.ts';

/** Maturity of a gate; "pre-alpha": not there yet in the emulated version. */
export type GateStage = 'pre-alpha' | 'alpha' | 'beta' | 'ga' | 'deprecated';

/** A gate at one version. */
export interface GateSpec {
  readonly since: MinorVersion;
  readonly stage: GateStage;
  readonly enabled: boolean;
  readonly locked: boolean;
}

/** One gate's state, for the metric kubernetes_feature_enabled. */
export interface GateState {
  readonly name: string;
  readonly stage: GateStage;
  readonly enabled: boolean;
}

/** Several faults found together. */
export class GateErrors extends Error {
  constructor(readonly messages: readonly string[]) {
    super(messages.join(', '));
    this.name = 'GateErrors';
  }
}

const COMPONENT = 'kube';
const ALL_ALPHA = 'AllAlpha';
const ALL_BETA = 'AllBeta';
const START: MinorVersion = { major: 0, minor: 0 };
const ABSENT: GateSpec = { since: START, stage: 'pre-alpha', enabled: false, locked: false };
const SETTLED_STAGES: Readonly<Partial<Record<GateStage, string>>> = {
  deprecated: 'deprecated',
  ga: 'GA',
};

function parseSpec(text: string): GateSpec {
  const [version = '', stage = '', standard, locked] = text.split(' ');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return {
    since: { major, minor },
    stage: stage as GateStage,
    enabled: standard === 'on',
    locked: locked === 'locked',
  };
}

const SPECS: ReadonlyMap<string, readonly GateSpec[]> = new Map(
  Object.entries({
    ...GATES_AK,
    ...GATES_LZ,
    [ALL_ALPHA]: '0.0 alpha off',
    [ALL_BETA]: '0.0 beta off',
  }).map(([name, specs]) => [name, specs.split(', ').map(parseSpec)]),
);

function specAt(specs: readonly GateSpec[], emulation: MinorVersion): GateSpec {
  return specs.findLast(({ since }) => compareMinor(since, emulation) <= 0) ?? ABSENT;
}

/** Lines about alpha and beta gates for --help, sorted as upstream sorts them. */
export function gateHelpLines(): string[] {
  return [...SPECS]
    .map(([name, specs]) => [name, specAt(specs, DEFAULT_VERSIONS.emulation)] as const)
    .filter(([, { stage }]) => stage === 'alpha' || stage === 'beta')
    .map(([name, { stage, enabled }]) => {
      return `${COMPONENT}:${name}=true|false (${stage.toUpperCase()} - default=${enabled})`;
    })
    .sort((a, b) => (a < b ? -1 : 1));
}

/** The "Gate=bool" texts that are meant for us. Throws ValueError. */
function ourTexts(entries: readonly PrefixedText[]): string[] {
  const prefixes = new Set(entries.map(({ prefix }) => prefix));
  if (prefixes.has('') && prefixes.has(COMPONENT)) {
    throw new ValueError(
      'set kube feature gates with default empty prefix or kube: prefix consistently, ' +
        'do not mix use',
    );
  }
  const stranger = [...prefixes].find((prefix) => prefix !== '' && prefix !== COMPONENT);
  if (stranger !== undefined) throw new ValueError(`component not registered: ${stranger}`);
  return entries.map(({ text }) => text);
}

function parseWishes(texts: readonly string[]): Map<string, boolean> {
  const wishes = new Map<string, boolean>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = (at < 0 ? text : text.slice(0, at)).trim();
    if (name === '' && at < 0) continue;
    if (at < 0) throw new ValueError(`missing bool value for ${name}`);
    const value = text.slice(at + 1).trim();
    try {
      wishes.set(name, parseBool(value));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ValueError(`invalid value of ${name}=${value}, err: ${reason}`);
    }
  }
  return wishes;
}

/** All gates of one process; made by `resolveGates`. */
export class FeatureGates {
  /** Things to log at start: gates that will go away. */
  readonly warnings: string[] = [];
  private readonly set = new Map<string, boolean>();

  constructor(private readonly versions: EffectiveVersions) {}

  /** True if the gate is on. Throws for a name that is no gate: our own mistake. */
  enabled(name: string): boolean {
    const specs = SPECS.get(name);
    if (specs === undefined) throw new Error(`feature gate ${name} is not known`);
    return this.set.get(name) ?? specAt(specs, this.versions.emulation).enabled;
  }

  /** Every gate that exists in the emulated version, sorted by name. */
  all(): GateState[] {
    return [...SPECS]
      .map(([name, specs]) => ({ name, stage: specAt(specs, this.versions.emulation).stage }))
      .filter(({ stage }) => stage !== 'pre-alpha')
      .map(({ name, stage }) => ({ name, stage, enabled: this.enabled(name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Applies what --feature-gates says. Throws GateErrors. */
  apply(wishes: ReadonlyMap<string, boolean>): void {
    const errors: string[] = [];
    for (const [name, on] of wishes) {
      const specs = SPECS.get(name);
      if (specs === undefined) {
        throw new GateErrors([...errors, `unrecognized feature gate: ${name}`]);
      }
      const error = this.applyOne(name, specAt(specs, this.versions.emulation), on);
      if (error !== undefined) errors.push(error);
    }
    this.applyToStage('alpha', wishes.get(ALL_ALPHA));
    this.applyToStage('beta', wishes.get(ALL_BETA));
    if (errors.length === 0) errors.push(...this.unmetNeeds());
    if (errors.length > 0) throw new GateErrors(errors);
  }

  private applyOne(name: string, spec: GateSpec, on: boolean): string | undefined {
    if (spec.locked && spec.enabled !== on) {
      return `cannot set feature gate ${name} to ${on}, feature is locked to ${spec.enabled}`;
    }
    if (spec.stage === 'pre-alpha') {
      const { emulation, minCompatibility } = this.versions;
      return (
        `cannot set feature gate ${name} to ${on}, feature is PreAlpha at emulated version ` +
        `${minorText(emulation)}, min compatibility version ${minorText(minCompatibility)}`
      );
    }
    this.set.set(name, on);
    const settled = SETTLED_STAGES[spec.stage];
    if (settled !== undefined) {
      const fate = 'It will be removed in a future release.';
      this.warnings.push(`setting ${settled} feature gate ${name}=${on}. ${fate}`);
    }
    return undefined;
  }

  private applyToStage(stage: GateStage, on: boolean | undefined): void {
    if (on === undefined) return;
    for (const [name, specs] of SPECS) {
      const fits = specAt(specs, this.versions.emulation).stage === stage;
      const special = name === ALL_ALPHA || name === ALL_BETA;
      if (fits && !special && !this.set.has(name)) this.set.set(name, on);
    }
  }

  private unmetNeeds(): string[] {
    const errors: string[] = [];
    for (const [name, needs] of Object.entries(GATE_NEEDS)) {
      const off = this.enabled(name) ? needs.filter((need) => !this.enabled(need)) : [];
      if (off.length > 0) {
        const list = `[${off.join(' ')}]`;
        errors.push(`${name} is enabled, but depends on features that are disabled: ${list}`);
      }
    }
    return errors;
  }
}

/** What --feature-gates and the versions come to. Throws ValueError or GateErrors. */
export function resolveGates(
  entries: readonly PrefixedText[],
  versions: EffectiveVersions,
): FeatureGates {
  const gates = new FeatureGates(versions);
  const wishes = parseWishes(ourTexts(entries));
  if (wishes.size > 0) gates.apply(wishes);
  const alpha = gates.all().filter(({ stage, enabled }) => stage === 'alpha' && enabled);
  if (alpha.length > 0) {
    gates.warnings.push(
      'component has alpha features enabled in emulated version, this is unsupported: ' +
        alpha.map(({ name }) => name).join(' '),
    );
  }
  return gates;
}
