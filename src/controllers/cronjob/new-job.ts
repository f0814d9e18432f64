/** The Job that a CronJob starts for a scheduled time. */
import { knownFields } from '../../api/known-fields.ts';
import { controllerReference } from '../../api/meta.ts';
import { apiVersionOf, CRON_JOBS, JOBS } from '../../api/resource.ts';
import type { CronJob } from '../../api/types/index.ts';
import { type Zone, zonedText } from '../../api/zone.ts';
import type { NewJob } from './actions.ts';

const SCHEDULED_AT = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MINUTE_MS = 60_000;

/** The name says the minute, so that nobody starts a Job for the same time a second time. */
export function jobName(cronJob: string, scheduledAt: number): string {
  return `${cronJob}-${Math.trunc(scheduledAt / MINUTE_MS)}`;
}

/** The body of the create call; `zone` is that in which its annotation shows the time. */
export function jobFor({ metadata, spec }: CronJob, scheduledAt: number, zone: Zone): NewJob {
  const jobTemplate = spec && knownFields(spec.jobTemplate, 'JobTemplateSpec');
  const annotations = { ...jobTemplate?.metadata?.annotations };
  return {
    apiVersion: apiVersionOf(JOBS),
    kind: JOBS.kind,
    metadata: {
      name: jobName(metadata.name, scheduledAt),
      namespace: metadata.namespace,
      labels: { ...jobTemplate?.metadata?.labels },
      annotations: { ...annotations, [SCHEDULED_AT]: zonedText(zone, scheduledAt) },
      ownerReferences: [controllerReference(metadata, CRON_JOBS)],
    },
    spec: jobTemplate?.spec,
  };
}
