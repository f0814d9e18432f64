/** Heartbeats of simulated nodes: the Lease every few seconds, the Node status once in a while. */
import { type Api, ApiFailure } from './api.ts';
import { nodeConditions, nodeLease, type Readiness } from './node-objects.ts';

export interface HeartOptions {
  /** Between two renewals of a node's Lease, default 10 s. */
  readonly heartbeatMs?: number;
  /** Between two reports of an unchanged status, default 5 min. */
  readonly statusEveryMs?: number;
}

/** What a heartbeat says of a node. */
export interface Pulse {
  readonly uid: string;
  readonly ready: Readiness;
}

const HEARTBEAT_MS = 10_000;
const STATUS_EVERY_MS = 300_000;

/** Keeps the Leases and statuses of nodes fresh. */
export class Heart {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #versions = new Map<string, string>();

  /** `pulse` gives undefined for a node that must not beat. */
  constructor(
    private readonly api: Api,
    private readonly options: HeartOptions,
    private readonly pulse: (name: string) => Pulse | undefined,
  ) {}

  /** Beats at once and from then on regularly. */
  async start(name: string): Promise<void> {
    this.stop(name);
    await this.#renew(name);
    this.#next(name, performance.now());
  }

  stop(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  stopAll(): void {
    for (const name of [...this.#timers.keys()]) this.stop(name);
  }

  #next(name: string, statusAt: number): void {
    const { heartbeatMs = HEARTBEAT_MS, statusEveryMs = STATUS_EVERY_MS } = this.options;
    const beat = async () => {
      let reported = statusAt;
      try {
        await this.#renew(name);
        if (performance.now() - statusAt >= statusEveryMs) {
          await this.#report(name);
          reported = performance.now();
        }
      } catch {
        // The next beat tries again; a node that stays silent is what the test will see.
        this.#versions.delete(name);
      }
      if (this.#timers.has(name)) this.#next(name, reported);
    };
    this.#timers.set(name, setTimeout(beat, heartbeatMs));
  }

  async #renew(name: string): Promise<void> {
    const pulse = this.pulse(name);
    if (!pulse) return;
    const version = this.#versions.get(name);
    try {
      const lease = nodeLease(name, pulse.uid, version);
      const kept = version ? await this.api.update(lease) : await this.api.create(lease);
      this.#versions.set(name, kept.metadata.resourceVersion);
    } catch (error) {
      if (!(error instanceof ApiFailure && [404, 409].includes(error.status))) throw error;
      const lease = await this.api.find('leases', 'kube-node-lease', name);
      if (lease) this.#versions.set(name, lease.metadata.resourceVersion);
      else this.#versions.delete(name);
      if (lease && !version) await this.#renew(name);
    }
  }

  async #report(name: string): Promise<void> {
    const pulse = this.pulse(name);
    if (!pulse) return;
    const { status } = await this.api.get('nodes', '', name);
    const body = { status: { conditions: nodeConditions(pulse.ready, status.conditions) } };
    await this.api.patch('nodes', '', name, body, { type: 'strategic', subresource: 'status' });
  }
}
