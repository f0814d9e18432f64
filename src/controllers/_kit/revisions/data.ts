/**
 * What a ControllerRevision of a StatefulSet or DaemonSet holds: the pod template, as a patch that
 * puts it back. The text of it is byte for byte what upstream stores, so that neither side takes
 * the other's revisions for new ones.
 */
import { type GoJsonOptions, goJson } from '../../../api/go-json.ts';
import { parseJson } from '../../../api/json.ts';
import { knownFields } from '../../../api/known-fields.ts';
import type { ControllerRevision, PodTemplateSpec } from '../../../api/types/index.ts';

type Fields = Readonly<Record<string, unknown>>;

const INT64_MAX = 2n ** 63n - 1n;

/** StatefulSets round integers that a float64 can't hold, DaemonSets keep them; as upstream. */
export const STATEFUL_NUMBERS: GoJsonOptions = { float64: true };
export const DAEMON_NUMBERS: GoJsonOptions = { float64: false };

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Without the null creation times that API servers before 1.34 write into templates. */
function withoutZeroTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeroTimes);
  if (!isFields(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, inner]) => !(key === 'creationTimestamp' && inner === null))
    .map(([key, inner]) => [key, withoutZeroTimes(inner)]);
  return Object.fromEntries(entries);
}

const templateTexts = new WeakMap<PodTemplateSpec, { text: string; numbers: GoJsonOptions }>();
const revisionTexts = new WeakMap<ControllerRevision, string>();

/** The data that records this template, as text. */
export function templateData(template: PodTemplateSpec, numbers: GoJsonOptions): string {
  const known = templateTexts.get(template);
  if (known?.numbers === numbers) return known.text;
  const lean = withoutZeroTimes(knownFields(template, 'PodTemplateSpec')) as Fields;
  const text = goJson({ spec: { template: { ...lean, $patch: 'replace' } } }, numbers);
  templateTexts.set(template, { text, numbers });
  return text;
}

/** The data of a stored revision as text, its keys in order. */
export function revisionData(revision: ControllerRevision): string {
  const known = revisionTexts.get(revision);
  if (known !== undefined) return known;
  const text = goJson(revision.data ?? null);
  revisionTexts.set(revision, text);
  return text;
}

/** Rounding may have taken the highest integer beyond what the API takes. */
function withinInt64(value: unknown): unknown {
  if (typeof value === 'bigint') return value > INT64_MAX ? INT64_MAX : value;
  if (Array.isArray(value)) return value.map(withinInt64);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withinInt64(inner)]));
}

/**
 * The template that a revision puts back in place of `current`. A revision that holds none (nobody
 * writes such) changes nothing.
 */
export function restoredTemplate(
  revision: ControllerRevision,
  current: PodTemplateSpec,
): PodTemplateSpec {
  const spec = isFields(revision.data) ? revision.data.spec : undefined;
  const stored = isFields(spec) ? spec.template : undefined;
  if (!isFields(stored)) return current;
  const { $patch: _, ...template } = stored;
  return withinInt64(template) as unknown as PodTemplateSpec;
}

/** The data as the value that stands in a revision's body. */
export function parsedData(text: string): object {
  return parseJson<object>(text);
}
