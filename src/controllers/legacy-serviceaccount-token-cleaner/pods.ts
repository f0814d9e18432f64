/** Which Secrets the pods of a namespace name. */
import { secretNamesOf } from '../../api/pod-secrets.ts';
import type { ControllerContext } from '../../runtime/controller.ts';
import { PODS_READ_BEFORE_PAUSE } from '../../runtime/limits.ts';

/** Reads the pods of each namespace once, for one round. */
export class NamedByPods {
  readonly #context: Pick<ControllerContext, 'informers' | 'clock'>;
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(context: Pick<ControllerContext, 'informers' | 'clock'>) {
    this.#context = context;
  }

  /** True if a pod of the namespace names the Secret. Throws if the disk lost a pod. */
  async has(namespace: string, name: string): Promise<boolean> {
    const known = this.#known.get(namespace) ?? (await this.#read(namespace));
    this.#known.set(namespace, known);
    return known.has(name);
  }

  async #read(namespace: string): Promise<ReadonlySet<string>> {
    const { informers, clock } = this.#context;
    const { lister } = informers.pods();
    const names = new Set<string>();
    let read = 0;
    for (const { key } of lister.list(namespace)) {
      if (++read % PODS_READ_BEFORE_PAUSE === 0) await clock.sleep(0);
      const pod = lister.get(key);
      for (const name of pod === undefined ? [] : secretNamesOf(pod)) names.add(name);
    }
    return names;
  }
}
