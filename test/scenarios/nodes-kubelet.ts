/** A kubelet of one node, as far as heartbeats go: it renews the Lease and posts conditions. */
import { type Api, ApiFailure, type Obj } from '../rig/index.ts';
import type { Fields } from './world.ts';

export interface KubeletOptions {
  readonly labels?: Fields;
  /** Between two renewals. */
  readonly everyMs?: number;
  /** Renew the Lease (default), or post the status instead, or neither. */
  readonly by?: 'lease' | 'status' | 'nothing';
  readonly spec?: Fields;
}

const EVERY_MS = 800;
const LEASES = 'kube-node-lease';
const TYPES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Beats until it is stopped; `start` registers the node. */
export class Kubelet {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ready = 'True';

  constructor(
    readonly api: Api,
    readonly name: string,
    readonly options: KubeletOptions = {},
  ) {}

  async start(): Promise<this> {
    const { labels, spec = {} } = this.options;
    const metadata = { name: this.name, labels };
    const node: Fields = { apiVersion: 'v1', kind: 'Node', metadata, spec };
    await this.api.create(node as Parameters<Api['create']>[0]);
    await this.post('True');
    await this.resume();
    return this;
  }

  /** Posts all conditions, with this status of Ready. */
  async post(ready = this.#ready, more: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#ready = ready;
    const before: Obj[] = (await this.api.get('nodes', '', this.name)).status?.conditions ?? [];
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const row = (type: string, status: string): Fields => {
      const old = before.find((one) => one.type === type);
      const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
      const reason = `Kubelet${type}${status}`;
      return { type, status, reason, message: '', lastHeartbeatTime: now, lastTransitionTime };
    };
    const conditions = [
      ...TYPES.map((type) => row(type, more[type] ?? 'False')),
      ...(more.NetworkUnavailable ? [row('NetworkUnavailable', more.NetworkUnavailable)] : []),
      row('Ready', ready),
    ];
    const options = { type: 'strategic', subresource: 'status' } as const;
    await this.api.patch('nodes', '', this.name, { status: { conditions } }, options);
  }

  /** Beats again, at once and from then on. */
  async resume(): Promise<void> {
    clearTimeout(this.#timer);
    const { everyMs = EVERY_MS, by = 'lease' } = this.options;
    if (by === 'nothing') return;
    const beat = async (): Promise<void> => {
      await (by === 'lease' ? this.renew() : this.post()).catch(() => undefined);
      if (this.#timer !== undefined) this.#timer = setTimeout(beat, everyMs);
    };
    this.#timer = setTimeout(beat, everyMs);
    if (by === 'lease') await this.renew();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async renew(): Promise<void> {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: this.name, leaseDurationSeconds: 40, renewTime };
    try {
      await this.api.patch('leases', LEASES, this.name, { spec });
    } catch (error) {
      if (!(error instanceof ApiFailure && error.status === 404)) throw error;
      const lease: Fields = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: this.name, namespace: LEASES },
        spec,
      };
      await this.api.create(lease as Parameters<Api['create']>[0]);
    }
  }
}
