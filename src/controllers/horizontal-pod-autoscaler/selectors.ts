/** Which autoscalers select which pods: two that select one pod must both keep still. */
import type { Selector } from '../../api/selector.ts';
import { parseSelector } from '../../api/selector-parse.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';

/** Selectors of autoscalers by key; each is known from the last look at its target. */
export class TargetSelectors {
  readonly #byNamespace = new Map<string, Map<string, Selector | undefined>>();

  /** An autoscaler is there; its selector isn't known before its target was looked at. */
  add(namespace: string, key: string): void {
    const known = this.#byNamespace.get(namespace) ?? new Map<string, Selector | undefined>();
    this.#byNamespace.set(namespace, known);
    if (!known.has(key)) known.set(key, undefined);
  }

  /** Notes the selector of an autoscaler that is there. */
  set(namespace: string, key: string, selector: Selector): void {
    const known = this.#byNamespace.get(namespace);
    if (known?.has(key)) known.set(key, selector);
  }

  /** The same, as it was remembered. */
  restore(namespace: string, key: string, text: string): void {
    const { selector } = parseSelector(text);
    if (text !== '' && selector !== undefined) this.set(namespace, key, selector);
  }

  delete(namespace: string, key: string): void {
    const known = this.#byNamespace.get(namespace);
    known?.delete(key);
    if (known?.size === 0) this.#byNamespace.delete(namespace);
  }

  count(): number {
    return [...this.#byNamespace.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Keys of the autoscalers of a namespace that select any of these pods, in order. */
  selecting(namespace: string, pods: readonly PodRecord[]): readonly string[] {
    const labels = new Set(pods.map((pod) => pod.labels));
    const known = this.#byNamespace.get(namespace) ?? new Map<string, Selector | undefined>();
    return [...known]
      .filter(([, selector]) => [...labels].some((one) => selector?.matches(one) === true))
      .map(([key]) => key)
      .sort();
  }
}
