/** A watch of its own over all pods of a namespace, from before the first one: what really happened. */
import { type Api, eventually, type Obj } from '../rig/index.ts';

/** The life of one pod as the watch told it. */
export interface PodLife {
  readonly uid: string;
  readonly name: string;
  /** Label `app`: the Deployment it serves. */
  readonly app: string;
  /** Label `pod-template-hash`. */
  readonly hash: string;
  ready: boolean;
  deleting: boolean;
  gone: boolean;
}

/** How many pods of an app there may be at any moment. */
export interface Bounds {
  /** Pods that are not being deleted, at most. */
  readonly active: number;
  /** Ready pods that are not being deleted, at least. */
  readonly ready: number;
}

const MARKER = 'marker';

/** Follows the pods of one namespace until stopped. */
export class PodLedger {
  readonly pods = new Map<string, PodLife>();
  /** Moments at which an app had more or fewer pods than its bounds allow. */
  readonly breaches: string[] = [];
  readonly #bounds = new Map<string, Bounds>();
  readonly #stop = new AbortController();
  #markers = 0;
  #failure: unknown;

  constructor(
    private readonly api: Api,
    private readonly namespace: string,
  ) {
    void this.#follow();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** From now on an app must stay within these bounds; undefined: any number is right. */
  bound(app: string, bounds: Bounds | undefined): void {
    if (bounds === undefined) this.#bounds.delete(app);
    else this.#bounds.set(app, bounds);
  }

  /** Every pod an app ever had. */
  of(app: string): PodLife[] {
    return [...this.pods.values()].filter((pod) => pod.app === app);
  }

  /** Resolves when everything that has happened until now is in the ledger. */
  async reach(): Promise<void> {
    const name = `${MARKER}-${++this.#markers}`;
    await this.api.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: this.namespace, labels: { app: MARKER } },
      spec: { containers: [{ name: MARKER, image: MARKER }] },
    } as never);
    await eventually(() => this.#failure ?? this.of(MARKER).some((pod) => pod.name === name), {
      describe: 'the ledger sees its marker',
      everyMs: 20,
    });
    if (this.#failure !== undefined) throw this.#failure;
    await this.api.remove('pods', this.namespace, name, { gracePeriodSeconds: 0 });
  }

  async #follow(): Promise<void> {
    try {
      const { signal } = this.#stop;
      for await (const event of this.api.watch('pods', this.namespace, {}, signal)) {
        if (event.type === 'ERROR') throw new Error(JSON.stringify(event.object));
        if (event.type === 'BOOKMARK') continue;
        const pod = this.#note(event.object, event.type === 'DELETED');
        this.#check(pod.app, `${event.type} ${pod.name}`);
      }
      throw new Error('the watch has ended');
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failure = error;
    }
  }

  #note({ metadata, status }: Obj, gone: boolean): PodLife {
    const { uid, name, labels = {}, deletionTimestamp } = metadata;
    const known = this.pods.get(uid);
    const pod = known ?? {
      uid,
      name,
      app: labels.app ?? '',
      hash: labels['pod-template-hash'] ?? '',
      ready: false,
      deleting: false,
      gone: false,
    };
    this.pods.set(uid, pod);
    const conditions: Obj[] = status?.conditions ?? [];
    pod.ready = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
    pod.deleting = deletionTimestamp !== undefined || gone;
    pod.gone = gone;
    return pod;
  }

  #check(app: string, moment: string): void {
    const bounds = this.#bounds.get(app);
    if (bounds === undefined) return;
    const active = this.of(app).filter((pod) => !pod.deleting);
    const ready = active.filter((pod) => pod.ready);
    if (active.length <= bounds.active && ready.length >= bounds.ready) return;
    const found = `${active.length} active, ${ready.length} ready`;
    const allowed = `at most ${bounds.active}, at least ${bounds.ready} ready`;
    this.breaches.push(`${app}: ${found} (${allowed}) at ${moment}`);
  }
}
