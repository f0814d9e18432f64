/** The HTTPS endpoint of simulated kubelets: /metrics/resource, as a metrics server scrapes it. */
import { Authority, type Pair } from './certs.ts';
import type { Meter } from './pod-usage.ts';

/** A pod whose containers run at present. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly containers: readonly string[];
  /** Of each of the containers. */
  readonly meter: Meter;
}

interface Kubelet {
  readonly startedAt: number;
  server: Bun.Server<undefined> | undefined;
  /** Port it had or has. */
  port: number;
  cpuSeconds: number;
  /** CPU seconds of the pods at the last look, by UID. */
  counted: ReadonlyMap<string, number>;
}

interface Sample {
  readonly labels?: string;
  readonly value: string;
  /** Milliseconds; without one, the time of the scrape counts. */
  readonly at?: number;
}

/** Addresses of simulated nodes lead nowhere; their kubelets are reached here. */
export const KUBELET_ADDRESS = '127.0.0.1';

/** What a node uses besides its pods. */
const OWN_CPU_CORES = 0.05;
const OWN_MEMORY_BYTES = 256 * 2 ** 20;

/** The endpoints of the kubelets of one process, each on a port of its own. */
export class Kubelets {
  readonly #kubelets = new Map<string, Kubelet>();
  #pair: Promise<Pair> | undefined;

  /** `pods` gives the pods that run on a node. */
  constructor(private readonly pods: (node: string) => readonly RunningPod[]) {}

  /** Serves the endpoint of a node, on the port it had if it was closed; gives the port. */
  async serve(node: string): Promise<number> {
    this.#pair ??= makePair();
    const { certPem: cert, keyPem: key } = await this.#pair;
    const kubelet = this.#kubelets.get(node) ?? newKubelet();
    this.#kubelets.set(node, kubelet);
    kubelet.server ??= Bun.serve({
      hostname: KUBELET_ADDRESS,
      port: kubelet.port,
      tls: { cert, key },
      fetch: ({ url }) =>
        new URL(url).pathname === '/metrics/resource'
          ? new Response(this.#metrics(node, kubelet), { headers: { 'content-type': TEXT } })
          : new Response('404 page not found\n', { status: 404 }),
    });
    kubelet.port = kubelet.server.port ?? 0;
    return kubelet.port;
  }

  /** Closes the endpoint of a node; connections are refused. */
  close(node: string): void {
    const kubelet = this.#kubelets.get(node);
    void kubelet?.server?.stop(true);
    if (kubelet !== undefined) kubelet.server = undefined;
  }

  closeAll(): void {
    for (const node of this.#kubelets.keys()) this.close(node);
  }

  #metrics(node: string, kubelet: Kubelet): string {
    const at = Date.now();
    const started: Sample[] = [];
    const cpu: Sample[] = [];
    const memory: Sample[] = [];
    const counted = new Map<string, number>();
    let memoryBytes = OWN_MEMORY_BYTES;
    for (const { namespace, name, uid, containers, meter } of this.pods(node)) {
      const read = meter.read(at);
      counted.set(uid, read.cpuSeconds * containers.length);
      memoryBytes += read.memoryBytes * containers.length;
      for (const container of containers) {
        const labels = `{container="${container}",namespace="${namespace}",pod="${name}"}`;
        started.push({ labels, value: String(meter.startedAt / 1000) });
        cpu.push({ labels, value: read.cpuSeconds.toFixed(6), at });
        memory.push({ labels, value: String(read.memoryBytes), at });
      }
    }
    for (const [uid, seconds] of counted) {
      kubelet.cpuSeconds += Math.max(0, seconds - (kubelet.counted.get(uid) ?? 0));
    }
    kubelet.counted = counted;
    const own = (OWN_CPU_CORES * (at - kubelet.startedAt)) / 1000;
    const nodeCpu = [{ value: (kubelet.cpuSeconds + own).toFixed(6), at }];
    return [
      family('container_cpu_usage_seconds_total', 'counter', cpu),
      family('container_memory_working_set_bytes', 'gauge', memory),
      family('container_start_time_seconds', 'gauge', started),
      family('node_cpu_usage_seconds_total', 'counter', nodeCpu),
      family('node_memory_working_set_bytes', 'gauge', [{ value: String(memoryBytes), at }]),
    ].join('');
  }
}

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

function newKubelet(): Kubelet {
  // A moment ago, because a node that has used nothing yet counts as one without metrics.
  const startedAt = Date.now() - 1000;
  return { startedAt, server: undefined, port: 0, cpuSeconds: 0, counted: new Map() };
}

async function makePair(): Promise<Pair> {
  const authority = await Authority.create('rig kubelets');
  return authority.issue({ commonName: 'system:node:rig', hosts: [KUBELET_ADDRESS] });
}

function family(name: string, type: string, samples: readonly Sample[]): string {
  const lines = samples.map(
    ({ labels = '', value, at }) =>
      `${name}${labels} ${value}${at === undefined ? '' : ` ${at}`}\n`,
  );
  return `# TYPE ${name} ${type}\n${lines.join('')}`;
}
