/** The next status of an autoscaler while a sync works it out, and the events that go with it. */
import { FencedError } from '../../api/errors.ts';
import { apiVersionOf, HORIZONTAL_POD_AUTOSCALERS } from '../../api/resource.ts';
import { timeText } from '../../api/time.ts';
import type { HorizontalPodAutoscaler } from '../../api/types/index.ts';
import type { EventRecorder, SyncRun } from '../../runtime/controller.ts';
import { referenceTo } from '../../runtime/pod-control.ts';
import {
  type AutoscalerCondition,
  type AutoscalerStatus,
  type MetricStatus,
  type Statement,
  sameStatus,
  withoutStatement,
  withStatement,
} from './status.ts';
import { AutoscaleProblem } from './target.ts';

/** What a sync came to. */
export interface Sizes {
  readonly current: number;
  readonly desired: number;
  /** Undefined: none was computed. */
  readonly metrics: readonly MetricStatus[] | undefined;
  readonly rescaled: boolean;
}

/** One sync's view of an autoscaler. */
export class Draft {
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly #events: EventRecorder;
  readonly #run: SyncRun;
  #conditions: readonly AutoscalerCondition[];
  #sizes: Partial<AutoscalerStatus> = {};

  constructor(cached: HorizontalPodAutoscaler, events: EventRecorder, run: SyncRun) {
    const { kind } = HORIZONTAL_POD_AUTOSCALERS;
    this.autoscaler = { ...cached, apiVersion: apiVersionOf(HORIZONTAL_POD_AUTOSCALERS), kind };
    this.#events = events;
    this.#run = run;
    this.#conditions = cached.status?.conditions ?? [];
  }

  get conditions(): readonly AutoscalerCondition[] {
    return this.#conditions;
  }

  say(statement: Statement): void {
    this.#conditions = withStatement(this.#conditions, statement, this.#run.now);
  }

  unsay(type: Statement['type']): void {
    this.#conditions = withoutStatement(this.#conditions, type);
  }

  warn(reason: string, message: string): void {
    this.#events.event(referenceTo(this.autoscaler), 'Warning', reason, message);
  }

  tell(reason: string, message: string): void {
    this.#events.event(referenceTo(this.autoscaler), 'Normal', reason, message);
  }

  /** What else the status shows; without it sizes and metrics stay as they were. */
  show({ current, desired, metrics, rescaled }: Sizes): void {
    this.#sizes = {
      currentReplicas: current,
      desiredReplicas: desired,
      currentMetrics: metrics ?? [],
      observedGeneration: undefined,
      ...(rescaled ? { lastScaleTime: timeText(this.#run.now) } : {}),
    };
  }

  /** The same after a failure: what is desired stays as it was. */
  showFailed(current: number, metrics: readonly MetricStatus[] | undefined): void {
    const desired = this.autoscaler.status?.desiredReplicas ?? 0;
    this.show({ current, desired, metrics, rescaled: false });
  }

  /** Writes the status if it says anything new. Throws with an event if that fails. */
  async write(): Promise<void> {
    const { metadata, status: before } = this.autoscaler;
    const conditions = [...this.#conditions];
    const status = { desiredReplicas: 0, ...before, ...this.#sizes, conditions };
    if (sameStatus({ desiredReplicas: 0, ...before }, status)) return;
    const { namespace, name } = metadata;
    const at = { namespace, name, subresource: 'status' };
    const { currentReplicas = 0, desiredReplicas } = status;
    const because = `it has ${currentReplicas} replicas and should have ${desiredReplicas}`;
    const body = { ...this.autoscaler, status };
    try {
      await this.#run.client.update(HORIZONTAL_POD_AUTOSCALERS, at, body, {
        because,
        metadataOnly: true,
      });
    } catch (error) {
      if (error instanceof FencedError || !(error instanceof Error)) throw error;
      this.warn('FailedUpdateStatus', error.message);
      throw new AutoscaleProblem(`failed to update status for ${name}: ${error.message}`, error);
    }
  }
}
