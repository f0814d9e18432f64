/** Templates as an API server gives them that is newer than the types that we know. */
import type { PodTemplateSpec } from '../types/index.ts';

const UNKNOWN: object = { fieldOfNextYear: { on: true } };

/** The template with fields that nobody knows, also in its metadata, spec and containers. */
export function newerTemplate(template: PodTemplateSpec): PodTemplateSpec {
  const { metadata, spec } = template;
  return {
    ...template,
    ...UNKNOWN,
    metadata: { ...metadata, ...UNKNOWN },
    spec: {
      ...spec,
      ...UNKNOWN,
      containers: (spec?.containers ?? []).map((container) => ({ ...container, ...UNKNOWN })),
    },
  };
}
