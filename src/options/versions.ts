/** Kubernetes versions: the one we stand in for, and those that may be emulated. */
import { KUBERNETES_VERSION } from '../version.ts';
import { ValueError } from './go/number.ts';
import { quote } from './go/quote.ts';

/** Major and minor number. */
export interface MinorVersion {
  readonly major: number;
  readonly minor: number;
}

/** What --emulated-version and --min-compatibility-version came to. */
export interface EffectiveVersions {
  /** Of the program: major.minor.patch. */
  readonly binary: string;
  readonly emulation: MinorVersion;
  readonly minCompatibility: MinorVersion;
}

interface ParsedVersion {
  readonly numbers: readonly number[];
  readonly text: string;
}

const NUMBERS = /^\s*v?(\d+(?:\.\d+)*)([^\n]*)$/;
const EXTRA =
  /^(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?\s*$/;
const LEADING_ZERO = /^0\d+$/;
const COMPONENT = 'kube';
/** Oldest version that may be emulated, or that other components may have. */
const FLOOR: MinorVersion = { major: 1, minor: 33 };

const BINARY = parseSemantic(KUBERNETES_VERSION).numbers;

function zeroPrefixed(component: string, text: string): ValueError {
  return new ValueError(
    `illegal zero-prefixed version component ${quote(component)} in ${quote(text)}`,
  );
}

function split(text: string): { components: string[]; extra: string } {
  const match = NUMBERS.exec(text);
  if (match === null) throw new ValueError(`could not parse ${quote(text)} as version`);
  return { components: (match[1] ?? '').split('.'), extra: match[2] ?? '' };
}

function parseSemantic(text: string): ParsedVersion {
  const { components, extra } = split(text);
  if (components.length !== 3) throw new ValueError(`illegal version string ${quote(text)}`);
  const bad = components.find((component) => LEADING_ZERO.test(component));
  if (bad !== undefined) throw zeroPrefixed(bad, text);
  const match = EXTRA.exec(extra);
  if (match === null) {
    throw new ValueError(
      `could not parse pre-release/metadata (${extra}) in version ${quote(text)}`,
    );
  }
  const badRelease = (match[1] ?? '').split('.').find((part) => LEADING_ZERO.test(part));
  if (badRelease !== undefined) throw zeroPrefixed(badRelease, text);
  return { numbers: components.map(Number), text: components.join('.') };
}

/** Two or more numbers, and whatever follows. */
function parseGeneric(text: string): ParsedVersion {
  const { components } = split(text);
  if (components.length < 2) throw new ValueError(`illegal version string ${quote(text)}`);
  const first = components[0] ?? '';
  if (LEADING_ZERO.test(first)) throw zeroPrefixed(first, text);
  return { numbers: components.map(Number), text: components.map(Number).join('.') };
}

/** `--version=vX` may only add to the version we stand in for. Throws ValueError. */
export function checkKubernetesVersion(text: string): void {
  if (text === KUBERNETES_VERSION) return;
  const { numbers } = parseSemantic(text);
  if (numbers.some((number, at) => number !== BINARY[at])) {
    const wanted = quote(KUBERNETES_VERSION);
    throw new ValueError(
      `version ${quote(text)} must match major/minor/patch of default version ${wanted}`,
    );
  }
}

/** "1.36". */
export function minorText({ major, minor }: MinorVersion): string {
  return `${major}.${minor}`;
}

/** Less than 0 if `a` is older than `b`, 0 if they are the same. */
export function compareMinor(a: MinorVersion, b: MinorVersion): number {
  return a.major === b.major ? a.minor - b.minor : a.major - b.major;
}

const CURRENT: MinorVersion = { major: BINARY[0] ?? 0, minor: BINARY[1] ?? 0 };

function before({ major, minor }: MinorVersion): MinorVersion {
  return { major, minor: Math.max(0, minor - 1) };
}

/** What is in force without flags. */
export const DEFAULT_VERSIONS: EffectiveVersions = {
  binary: BINARY.join('.'),
  emulation: CURRENT,
  minCompatibility: before(CURRENT),
};

/** Allowed values, as help shows them: "1.33..1.36(default:1.35)". */
export function allowedRange(standard: MinorVersion): string {
  return `${minorText(FLOOR)}..${minorText(CURRENT)}(default:${minorText(standard)})`;
}

function parseEither(text: string): ParsedVersion {
  try {
    return parseSemantic(text);
  } catch {
    return parseGeneric(text);
  }
}

function versionOf(entries: readonly string[]): MinorVersion | undefined {
  const found = new Map<string, ParsedVersion>();
  for (const entry of entries) {
    const at = entry.indexOf('=');
    const component = at < 0 ? COMPONENT : entry.slice(0, at).trim();
    const version = parseEither(at < 0 ? entry : entry.slice(at + 1).trim());
    const shown = `${component}=${version.text}`;
    if ((version.numbers[2] ?? 0) !== 0) {
      throw new ValueError(`patch version not allowed, got: ${shown}`);
    }
    const other = found.get(component);
    if (other !== undefined) {
      throw new ValueError(`duplicate version flag, ${component}=${other.text} and ${shown}`);
    }
    found.set(component, version);
  }
  const stranger = [...found.keys()].find((component) => component !== COMPONENT);
  if (stranger !== undefined) throw new ValueError(`component not registered: ${stranger}`);
  const numbers = found.get(COMPONENT)?.numbers;
  return numbers === undefined ? undefined : { major: numbers[0] ?? 0, minor: numbers[1] ?? 0 };
}

/** What the two flags come to. Throws ValueError for what can't be read; ranges: `checkVersions`. */
export function resolveVersions(
  emulated: readonly string[],
  minCompatibility: readonly string[],
): EffectiveVersions {
  const emulation = versionOf(emulated);
  const wanted = versionOf(minCompatibility);
  if (emulation === undefined) {
    return { ...DEFAULT_VERSIONS, minCompatibility: wanted ?? DEFAULT_VERSIONS.minCompatibility };
  }
  const previous = before(emulation);
  const standard = compareMinor(previous, FLOOR) < 0 ? FLOOR : previous;
  return { ...DEFAULT_VERSIONS, emulation, minCompatibility: wanted ?? standard };
}

/** Complaints about versions out of range, in upstream's words. */
export function checkVersions({ emulation, minCompatibility }: EffectiveVersions): string[] {
  const errors: string[] = [];
  if (compareMinor(emulation, CURRENT) > 0 || compareMinor(emulation, FLOOR) < 0) {
    const range = `[${minorText(FLOOR)}, ${minorText(CURRENT)}.0]`;
    errors.push(`emulation version ${minorText(emulation)} is not between ${range}`);
  }
  if (compareMinor(minCompatibility, emulation) > 0 || compareMinor(minCompatibility, FLOOR) < 0) {
    const range = `[${minorText(FLOOR)}, ${minorText(emulation)}]`;
    const found = minorText(minCompatibility);
    errors.push(`minCompatibilityVersion version ${found} is not between ${range}`);
  }
  return errors;
}
