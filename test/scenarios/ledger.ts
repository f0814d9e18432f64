/**
 * Watches of its own over the pods and ReplicaSets of a namespace, from before the first one: what
 * really happened, whatever the code under test believes.
 */
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

/** What must hold for an app at any moment. */
export interface Bounds {
  /** Pods that its ReplicaSets ask for together, at most (upstream's meaning of maxSurge). */
  readonly asked: number;
  /** Ready pods that are not being deleted, at least. */
  readonly ready: number;
}

const MARKER = 'marker';

const CUT_PAUSE_MS = 200;

/** Follows one namespace until stopped. */
export class Ledger {
  readonly pods = new Map<string, PodLife>();
  /** Moments at which an app was outside its bounds. */
  readonly breaches: string[] = [];
  /** Sizes of the ReplicaSets that exist, by UID. */
  readonly #sizes = new Map<string, { readonly app: string; readonly replicas: number }>();
  readonly #bounds = new Map<string, Bounds>();
  readonly #stop = new AbortController();
  #markers = 0;
  #failure: unknown;

  constructor(
    private readonly api: Api,
    private readonly namespace: string,
    /** Goes on when the API server is restarted; what happened unseen is then not counted. */
    private readonly survivesCuts = false,
  ) {
    void this.#follow('pods', (object, gone, moment) => this.#notePod(object, gone, moment));
    void this.#follow('replicasets', (object, gone, moment) =>
      this.#noteSize(object, gone, moment),
    );
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
      // No node is to run it.
      spec: {
        schedulingGates: [{ name: 'holdfast.dev/marker' }],
        containers: [{ name: MARKER, image: MARKER }],
      },
    } as never);
    await eventually(() => this.#failure ?? this.of(MARKER).some((pod) => pod.name === name), {
      describe: 'the ledger sees its marker',
      everyMs: 20,
    });
    if (this.#failure !== undefined) throw this.#failure;
    await this.api.remove('pods', this.namespace, name, { gracePeriodSeconds: 0 });
  }

  async #follow(
    plural: string,
    note: (object: Obj, gone: boolean, moment: string) => void,
  ): Promise<void> {
    const { signal } = this.#stop;
    let resourceVersion: string | undefined;
    // The server ends a watch whose reader is slow; it goes on where it stopped.
    while (!signal.aborted && this.#failure === undefined) {
      try {
        const query = { resourceVersion, allowWatchBookmarks: true };
        for await (const event of this.api.watch(plural, this.namespace, query, signal)) {
          if (event.type === 'ERROR') throw new Error(JSON.stringify(event.object));
          const { name, resourceVersion: version } = event.object.metadata;
          resourceVersion = version;
          if (event.type === 'BOOKMARK') continue;
          note(event.object, event.type === 'DELETED', `${event.type} ${name} ${version}`);
        }
      } catch (error) {
        if (!this.survivesCuts) this.#failure = signal.aborted ? undefined : error;
        // What came and went meanwhile is missed; what is there is told again.
        resourceVersion = undefined;
        await Bun.sleep(CUT_PAUSE_MS);
      }
    }
  }

  #notePod({ metadata, status }: Obj, gone: boolean, moment: string): void {
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
    const bounds = this.#bounds.get(pod.app);
    if (bounds === undefined) return;
    const ready = this.of(pod.app).filter((other) => other.ready && !other.deleting).length;
    if (ready >= bounds.ready) return;
    this.breaches.push(`${pod.app}: ${ready} of ${bounds.ready} are ready at ${moment}`);
  }

  #noteSize({ metadata, spec }: Obj, gone: boolean, moment: string): void {
    const app = metadata.labels?.app ?? '';
    if (gone) this.#sizes.delete(metadata.uid);
    else this.#sizes.set(metadata.uid, { app, replicas: spec.replicas });
    const bounds = this.#bounds.get(app);
    if (bounds === undefined) return;
    const mine = [...this.#sizes.values()].filter((size) => size.app === app);
    const asked = mine.reduce((sum, { replicas }) => sum + replicas, 0);
    if (asked <= bounds.asked) return;
    this.breaches.push(`${app}: ${asked} of ${bounds.asked} pods are asked for at ${moment}`);
  }
}
