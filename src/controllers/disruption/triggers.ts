/** Which budgets and pods an event concerns. */
import type { Clock } from '../../runtime/clock.ts';
import type { WorkQueue } from '../../runtime/controller.ts';
import type { Handler, ObjectRecord, PodRecord } from '../../runtime/informer/types.ts';
import type { Budgets } from './budgets.ts';
import type { BudgetEvents } from './events.ts';
import { staleInMs } from './stale.ts';

/** What the triggers work with. */
export interface TriggerDeps {
  readonly budgets: Budgets;
  readonly queue: WorkQueue;
  readonly stalePods: WorkQueue;
  readonly events: BudgetEvents;
  readonly clock: Pick<Clock, 'now'>;
}

/** Any change of a budget concerns it. */
export function budgetHandler({ queue, budgets }: TriggerDeps): Handler<ObjectRecord> {
  return {
    add: ({ key }) => queue.add(key),
    update: ({ key }) => queue.add(key),
    delete: ({ key }) => {
      budgets.forget(key);
      queue.add(key);
    },
  };
}

/**
 * A pod concerns the one budget that selects it. Upstream forgets the budget that it left by a
 * change of its labels; here that one is counted again as well.
 */
export function podHandler(deps: TriggerDeps): Handler<PodRecord> {
  const look = (pod: PodRecord): void => {
    enqueueBudget(deps, pod);
    const delayMs = staleInMs(pod, deps.clock.now());
    if (delayMs === undefined) return;
    const because = 'it is said to be disrupted and is not being deleted';
    deps.stalePods.addAfter(pod.key, delayMs, because);
  };
  return {
    add: look,
    update: (pod, previous) => {
      if (pod.labels !== previous.labels) {
        for (const { key } of deps.budgets.of(previous)) deps.queue.add(key);
      }
      look(pod);
    },
    delete: (pod) => enqueueBudget(deps, pod),
  };
}

function enqueueBudget({ budgets, queue, events }: TriggerDeps, pod: PodRecord): void {
  const found = budgets.of(pod);
  const [chosen] = found;
  if (chosen === undefined) return;
  if (found.length > 1) events.severalBudgets(pod, chosen.name);
  queue.add(chosen.key);
}
