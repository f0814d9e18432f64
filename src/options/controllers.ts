/** The --controllers list: "*", "name", "-name", old aliases; the first entry that fits decides. */
import { quote } from './go/quote.ts';
import { KNOWN_CONTROLLERS, type KnownController } from './known-controllers.ts';

/** This controller ignores the list: others need the tokens it makes. */
const ALWAYS_WANTED = 'serviceaccount-token-controller';

const CANONICAL: ReadonlyMap<string, string> = new Map(
  KNOWN_CONTROLLERS.flatMap(({ name, aliases }) => [
    [name, name] as const,
    ...aliases.map((alias) => [alias, name] as const),
  ]),
);

/** The canonical name of a controller or alias; undefined if there is none of that name. */
export function canonicalName(name: string): string | undefined {
  return CANONICAL.get(name);
}

/** Complaints about entries that name no controller, in upstream's words. */
export function checkControllers(list: readonly string[]): string[] {
  return list
    .filter((entry) => entry !== '*')
    .map((entry) => (entry.startsWith('-') ? entry.slice(1) : entry))
    .filter((name) => canonicalName(name) === undefined)
    .map((name) => `${quote(name)} is not in the list of known controllers`);
}

/** The list with aliases replaced by canonical names, as /configz shows it. */
export function canonicalList(list: readonly string[]): string[] {
  return list.map((entry) => {
    const off = entry.startsWith('-');
    const name = off ? entry.slice(1) : entry;
    return `${off ? '-' : ''}${canonicalName(name) ?? name}`;
  });
}

/** True if the list (canonical names) wants the controller. */
export function isWanted(
  list: readonly string[],
  controller: Pick<KnownController, 'name' | 'enabledByDefault'>,
): boolean {
  const { name, enabledByDefault } = controller;
  if (name === ALWAYS_WANTED) return true;
  const decisive = list.find((entry) => entry === name || entry === `-${name}`);
  if (decisive !== undefined) return decisive === name;
  return list.includes('*') && enabledByDefault;
}

/** A controller that doesn't start, and the plain reason. */
export interface SkippedController {
  readonly name: string;
  readonly because: string;
  /** The list or its gates ask for it, but this program doesn't have it. */
  readonly notAvailable: boolean;
}

/** Which controllers start. */
export interface ControllerSelection {
  /** Canonical names, sorted. */
  readonly started: readonly string[];
  readonly skipped: readonly SkippedController[];
}

function reasonToSkip(
  list: readonly string[],
  controller: KnownController,
  gate: (name: string) => boolean,
): string | undefined {
  const closed = controller.gates.find((name) => !gate(name));
  const whole = KNOWN_CONTROLLERS.find(({ name }) => name === controller.partOf);
  if (closed !== undefined && whole !== undefined) return reasonToSkip(list, whole, gate);
  if (!isWanted(list, controller)) return 'disabled by --controllers';
  if (controller.cloud) return 'it lives in cloud-controller-manager';
  return closed === undefined ? undefined : `feature gate ${closed} is off`;
}

/**
 * Sorts all known controllers into those to start and those to skip. `list` has canonical names;
 * `implemented` are the canonical names this program has code for.
 */
export function selectControllers(
  list: readonly string[],
  gate: (name: string) => boolean,
  implemented: ReadonlySet<string>,
): ControllerSelection {
  const started: string[] = [];
  const skipped: SkippedController[] = [];
  for (const controller of KNOWN_CONTROLLERS) {
    const { name } = controller;
    const because = reasonToSkip(list, controller, gate);
    if (because !== undefined) {
      skipped.push({ name, because, notAvailable: false });
    } else if (implemented.has(name)) {
      started.push(name);
    } else {
      skipped.push({ name, because: 'not available in this version', notAvailable: true });
    }
  }
  return { started, skipped };
}
