/** The events of the disruption controller, one function a reason. */
import { quote } from '../../api/go-quote.ts';
import { labelSelectorText } from '../../api/selector-text.ts';
import type { LabelSelector, ObjectReference } from '../../api/types/index.ts';
import type { EventRecorder } from '../../runtime/controller.ts';
import type { ObjectRecord } from '../../runtime/informer/types.ts';

/** Sends the events. Upstream's component is called `controllermanager`. */
export class BudgetEvents {
  readonly #events: EventRecorder;

  constructor(events: EventRecorder) {
    this.#events = events;
  }

  /** The budget selects nothing. */
  noPods(budget: ObjectReference): void {
    this.#events.event(budget, 'Normal', 'NoPods', 'No matching pods found');
  }

  /** The budget's selector can't be used. */
  podsUnknown(budget: ObjectReference, problem: string): void {
    this.#events.event(budget, 'Warning', 'NoPods', `Failed to get pods: ${problem}`);
  }

  /** Nobody knows how many pods there should be. */
  countFailed(budget: ObjectReference, problem: string): void {
    const message = `Failed to calculate the number of expected pods: ${problem}`;
    this.#events.event(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
  }

  /** Some pods have no controller. */
  unmanaged(budget: ObjectReference, selector: LabelSelector | undefined): void {
    const message =
      'Pods selected by this PodDisruptionBudget ' +
      `(selector: ${labelSelectorText(selector)}) were found to be unmanaged. As a result, the ` +
      'status of the PDB cannot be calculated correctly, which may result in undefined ' +
      'behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to ' +
      'an integer value.';
    this.#events.event(budget, 'Warning', 'UnmanagedPods', message);
  }

  /** An evicted pod did not go. Upstream prints the namespace where the budget's name belongs. */
  notDeleted(pod: ObjectRecord, budgetNamespace: string): void {
    const name = `${budgetNamespace}/${budgetNamespace}`;
    const message = `Pod was expected by PDB ${name} to be deleted but it wasn't`;
    this.#events.event(podReference(pod), 'Warning', 'NotDeleted', message);
  }

  /** Several budgets select one pod. */
  severalBudgets(pod: ObjectRecord, chosen: string): void {
    const where = `${quote(pod.namespace)}/${quote(pod.name)}`;
    const message =
      `Pod ${where} matches multiple PodDisruptionBudgets.  ` +
      `Chose ${quote(chosen)} arbitrarily.`;
    this.#events.event(podReference(pod), 'Warning', 'MultiplePodDisruptionBudgets', message);
  }
}

function podReference({ namespace, name, uid, resourceVersion }: ObjectRecord): ObjectReference {
  return { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion };
}
