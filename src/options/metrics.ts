/** What the metrics flags ask for, and upstream's checks of them. */
import { parse } from 'yaml';
import { quote } from './go/quote.ts';
import { type ReadText, readProblem } from './read.ts';
import type { FlagValues } from './values.ts';
import { DEFAULT_VERSIONS } from './versions.ts';

/** Which metrics are shown and which label values they may have. */
export interface MetricsOptions {
  /** Metrics hidden as deprecated are shown. */
  readonly showHidden: boolean;
  /** Full names of metrics that are not collected. */
  readonly disabled: readonly string[];
  /** "metric,label" to the values that stay as they are; others become "unexpected". */
  readonly allowedLabelValues: ReadonlyMap<string, readonly string[]>;
}

const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*';
const METRIC = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const KEY_EXPRESSION = new RegExp(`^${METRIC},${LABEL}$`);
const NAME_EXPRESSION = `^${METRIC}$`;

function json(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function sorted(map: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkShowHidden(version: string): string[] {
  const { major, minor } = DEFAULT_VERSIONS.emulation;
  const valid = `${major}.${minor - 1}`;
  if (version === '' || version === valid) return [];
  const found = quote(version);
  return [
    `metrics.showHiddenMetricsForVersion: Invalid value: ${found}: must be omitted or have the ` +
      `value '${valid}'; only the previous minor version is allowed`,
  ];
}

function checkDisabled(names: readonly string[]): string[] {
  const bad = names.find((name) => !new RegExp(NAME_EXPRESSION).test(name));
  if (bad === undefined) return [];
  return [
    `metrics.disabledMetrics: Invalid value: ${json(names)}: must be fully qualified metric ` +
      `names matching ${quote(NAME_EXPRESSION)}, got ${quote(bad)}`,
  ];
}

function checkMapping(map: ReadonlyMap<string, string>, field: string): string[] {
  if ([...map.keys()].every((key) => KEY_EXPRESSION.test(key))) return [];
  return [
    `${field}: Invalid value: ${json(sorted(map))}: must have keys with format ` +
      '`metricName,labelName` where metricName matches ' +
      `${quote(METRIC)} and labelName matches ${quote(LABEL)}`,
  ];
}

/** The mapping in a manifest. Throws an Error that says why it can't be read. */
function readManifest(path: string, readText: ReadText): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    const reason = readProblem('open', path, error);
    throw new Error(`failed to read allow list manifest: ${reason}`, { cause: error });
  }
  try {
    const mapping: unknown = parse(text) ?? {};
    const entries = typeof mapping === 'object' && mapping !== null ? Object.entries(mapping) : [];
    const flat = entries.every(([, value]) => typeof value !== 'object' || value === null);
    if (typeof mapping !== 'object' || Array.isArray(mapping) || !flat) {
      throw new Error('valid is a map of "metric,label" to values with commas between them');
    }
    return new Map(entries.map(([key, value]) => [key, String(value ?? '')]));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`failed to parse allow list manifest: ${reason}`, { cause: error });
  }
}

function checkManifest(path: string, readText: ReadText): string[] {
  const field = 'metrics.allowListMappingManifest';
  if (path === '') return [];
  const head = `${field}: Invalid value: ${quote(path)}:`;
  try {
    const problems = checkMapping(readManifest(path, readText), field);
    if (problems.length === 0) return [];
    return [`${head} invalid allow list mapping in manifest: [${problems.join(' ')}]`];
  } catch (error) {
    return [`${head} ${error instanceof Error ? error.message : String(error)}`];
  }
}

function checkBoth(values: FlagValues): string[] {
  const map = values.map('allow-metric-labels');
  const manifest = values.text('allow-metric-labels-manifest');
  if (map.size === 0 || manifest === '') return [];
  const version = values.text('show-hidden-metrics-for-version');
  const disabled = values.list('disabled-metrics');
  const found = {
    ...(version === '' ? {} : { showHiddenMetricsForVersion: version }),
    ...(disabled.length === 0 ? {} : { disabledMetrics: disabled }),
    allowListMapping: sorted(map),
    allowListMappingManifest: manifest,
  };
  const complaint = 'cannot specify both allowListMapping and allowListMappingManifest';
  return [`metrics: Invalid value: ${json(found)}: ${complaint}`];
}

/** Complaints about the metrics flags, in upstream's words and order. */
export function checkMetrics(values: FlagValues, readText: ReadText): string[] {
  return [
    ...checkShowHidden(values.text('show-hidden-metrics-for-version')),
    ...checkDisabled(values.list('disabled-metrics')),
    ...checkMapping(values.map('allow-metric-labels'), 'metrics.allowListMapping'),
    ...checkManifest(values.text('allow-metric-labels-manifest'), readText),
    ...checkBoth(values),
  ];
}

/** The options; the flags must have passed `checkMetrics`. */
export function metricsOptions(values: FlagValues, readText: ReadText): MetricsOptions {
  const manifest = values.text('allow-metric-labels-manifest');
  const map = values.map('allow-metric-labels');
  const chosen = map.size === 0 && manifest !== '' ? readManifest(manifest, readText) : map;
  return {
    showHidden: values.text('show-hidden-metrics-for-version') !== '',
    disabled: values.list('disabled-metrics').filter((name) => name !== ''),
    allowedLabelValues: new Map([...chosen].map(([key, list]) => [key, list.split(',')])),
  };
}
