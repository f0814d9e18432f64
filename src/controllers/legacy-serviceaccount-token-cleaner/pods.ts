/** Which Secrets the pods of a namespace name. */
import { secretNamesOf } from '../../api/pod-secrets.ts';
import { PODS } from '../../api/resource.ts';
import type { Pod } from '../../api/types/index.ts';
import type { ControllerContext, SyncRun } from '../../runtime/controller.ts';
import type { PodRecord } from '../../runtime/informer/types.ts';
import { PODS_READ_BEFORE_PAUSE } from '../../runtime/limits.ts';
import { whole } from '../_kit/whole.ts';

/** Reads the pods of each namespace once, for one round. */
export class NamedByPods {
  readonly #context: Pick<ControllerContext, 'informers' | 'clock'>;
  readonly #run: SyncRun;
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(context: Pick<ControllerContext, 'informers' | 'clock'>, run: SyncRun) {
    this.#context = context;
    this.#run = run;
  }

  /** True if a pod of the namespace names the Secret. Throws if a pod that the disk lost can't be read. */
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
      const pod = await whole<Pod, PodRecord>(this.#run, PODS, lister, key);
      for (const name of pod === undefined ? [] : secretNamesOf(pod)) names.add(name);
    }
    return names;
  }
}
