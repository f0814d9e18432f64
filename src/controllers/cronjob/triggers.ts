/** From informer events to the keys of CronJobs. */

import { scheduleOf, untilNext } from '../../api/cronjob.ts';
import { keyOf, sameController } from '../../api/meta.ts';
import { apiVersionOf, CRON_JOBS } from '../../api/resource.ts';
import type { CronJob } from '../../api/types/index.ts';
import type { Zones } from '../../api/zone.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { EventRecorder, WorkQueue } from '../../runtime/controller.ts';
import type { Handler, JobRecord, Lister, ObjectRecord } from '../../runtime/informer/types.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import { unparseableChange } from './events.ts';

/** What the handlers work with. */
export interface TriggerDeps {
  readonly cronJobs: Lister<CronJob>;
  readonly queue: WorkQueue;
  readonly events: EventRecorder;
  readonly zones: Zones;
  readonly clock: Clock;
}

/** Handlers of CronJobs and Jobs. */
export class CronTriggers {
  readonly #deps: TriggerDeps;
  /** Schedule and time zone of each CronJob as they were seen last. */
  readonly #schedules = new Map<string, string>();

  constructor(deps: TriggerDeps) {
    this.#deps = deps;
  }

  /** Every event queues the key; a new schedule for its next time. */
  cronJobs(): Handler<ObjectRecord> {
    const { queue } = this.#deps;
    return {
      add: ({ key }) => {
        this.#remember(key);
        queue.add(key);
      },
      update: ({ key }) => this.#updated(key),
      delete: ({ key }) => {
        this.#schedules.delete(key);
        queue.add(key);
      },
    };
  }

  /** Events of a Job queue the CronJob that controls it. */
  jobs(): Handler<JobRecord> {
    return {
      // At the start every CronJob is queued anyway.
      add: (job, initial) => (initial ? undefined : this.#queueOwner(job)),
      update: (job, previous) => {
        if (job.resourceVersion === previous.resourceVersion) return;
        if (!sameController(job.controller, previous.controller)) this.#queueOwner(previous);
        this.#queueOwner(job);
      },
      delete: (job) => this.#queueOwner(job),
    };
  }

  #updated(key: string): void {
    const before = this.#schedules.get(key);
    const cronJob = this.#remember(key);
    const { queue, zones, clock, events } = this.#deps;
    if (cronJob === undefined || before === undefined || before === this.#schedules.get(key)) {
      queue.add(key);
      return;
    }
    const parsed = scheduleOf(cronJob, zones);
    if (parsed.problem !== undefined) {
      const { type, reason, message } = unparseableChange(cronJob.spec?.schedule ?? '');
      const about = { ...cronJob, apiVersion: apiVersionOf(CRON_JOBS), kind: CRON_JOBS.kind };
      events.event(referenceTo(about), type, reason, message);
      return;
    }
    const delayMs = untilNext(cronJob, clock.now(), parsed.schedule);
    queue.addAfter(key, delayMs, 'its schedule was changed');
  }

  /** Notes the schedule; undefined if the disk lost the CronJob, its own sync fetches it then. */
  #remember(key: string): CronJob | undefined {
    try {
      const cronJob = this.#deps.cronJobs.get(key);
      const { schedule = '', timeZone } = cronJob?.spec ?? {};
      this.#schedules.set(key, JSON.stringify([schedule, timeZone]));
      return cronJob;
    } catch {
      this.#schedules.delete(key);
      return undefined;
    }
  }

  /** The cached CronJob that a controller reference means: kind, name and UID. */
  #queueOwner({ namespace, controller }: JobRecord): void {
    if (controller?.kind !== CRON_JOBS.kind) return;
    const key = keyOf({ namespace, name: controller.name });
    if (this.#deps.cronJobs.record(key)?.uid === controller.uid) this.#deps.queue.add(key);
  }
}
