/** /flagz and /statusz: text for people, or structured where the Accept header asks for it. */
import type { Random } from '../runtime/random.ts';

const SEPARATORS = [':', ': ', '=', ' '];
const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, ' +
  'has no formatting compatibility guarantees and is for debugging purposes only.';
const COMPONENT = 'kube-controller-manager';

/** What an Accept header asks of a z-page. */
export type PageForm = 'text' | 'refused' | { readonly version: 'v1alpha1' | 'v1beta1' };

/** Reads the Accept header for a page of kind "Flagz" or "Statusz". */
export function formOf(accept: string | undefined, kind: string): PageForm {
  const offers = (accept ?? '').split(',').map((offer) => offer.trim());
  for (const offer of offers) {
    const [type = '', ...parameters] = offer.split(';').map((part) => part.trim());
    if (['', 'text/plain', 'text/*', '*/*'].includes(type)) return 'text';
    if (type !== 'application/json') continue;
    const given = new Map(parameters.map((part) => part.split('=') as [string, string]));
    const version = given.get('v');
    const fits = given.get('g') === 'config.k8s.io' && given.get('as') === kind;
    if (fits && (version === 'v1alpha1' || version === 'v1beta1')) return { version };
  }
  return 'refused';
}

/** A separator that keeps people from parsing the text. */
export function drawSeparator(random: Random): string {
  return SEPARATORS[Math.floor(random.next() * SEPARATORS.length)] ?? ':';
}

/** The text of /flagz. */
export function flagzText(flags: Readonly<Record<string, string>>, separator: string): string {
  const lines = Object.keys(flags)
    .sort()
    .map((name) => `${name}${separator}${flags[name]}`);
  return `\n${COMPONENT} flagz\n${WARNING}\n${lines.join('\n')}\n`;
}

export interface StatuszFacts {
  readonly startedAt: number;
  readonly now: number;
  readonly runtimeVersion: string;
  readonly binaryVersion: string;
  readonly emulationVersion: string;
  readonly paths: readonly string[];
  /** Lines of our own. */
  readonly more: Readonly<Record<string, string>>;
}

/** The text of /statusz. */
export function statuszText(facts: StatuszFacts, separator: string): string {
  const rows: [string, string][] = [
    ['Started', dateText(facts.startedAt)],
    ['Up', upTime(facts.now - facts.startedAt)],
    ['Go version', facts.runtimeVersion],
    ['Binary version', facts.binaryVersion],
    ['Emulation version', facts.emulationVersion],
    ['Paths', facts.paths.join(' ')],
    ...Object.entries(facts.more),
  ];
  const lines = rows.map(([name, value]) => `${name}${separator} ${value}`);
  return `\n${COMPONENT} statusz\n${WARNING}\n\n${lines.join('\n')}\n`;
}

/** The structured form of /statusz. */
export function statuszObject(facts: StatuszFacts, version: string): object {
  return {
    kind: 'Statusz',
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: COMPONENT },
    startTime: new Date(facts.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    uptimeSeconds: Math.floor((facts.now - facts.startedAt) / 1000),
    goVersion: facts.runtimeVersion,
    binaryVersion: facts.binaryVersion,
    emulationVersion: facts.emulationVersion,
    paths: facts.paths,
  };
}

/** The structured form of /flagz. */
export function flagzObject(flags: Readonly<Record<string, string>>, version: string): object {
  return {
    kind: 'Flagz',
    apiVersion: `config.k8s.io/${version}`,
    metadata: { name: COMPONENT },
    flags,
  };
}

/** As the command date writes it: "Mon Nov 30 06:00:00 UTC 2026". */
function dateText(ms: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms)
    .toUTCString()
    .split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}

function upTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return `${hours} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}
