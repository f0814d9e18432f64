/** A node that runs real containers: containerd and a kubelet in namespaces of their own. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, type Cluster, eventually, type Obj } from '../rig/index.ts';
import { emptyGroups, group, lives, makeGroups, nodeBinaries } from './machine.ts';

const CNI_FOLDERS = ['/usr/lib/cni', '/opt/cni/bin'];
const REGISTER_TIMEOUT_MS = 150_000;
const LEASE_SECONDS = 8;
const LOG_LINES = 25;

export const PAUSE_IMAGE = 'holdfast.test/pause:1';

/** What a node is called and where its pods' addresses begin: 10.210.INDEX.2. */
export interface NodeShape {
  readonly name: string;
  readonly index: number;
}

function containerdConfig(): string {
  const runtime = "plugins.'io.containerd.cri.v1.runtime'";
  const cni = CNI_FOLDERS.filter((folder) => existsSync(folder));
  return `version = 3
oom_score = 0
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${PAUSE_IMAGE}'
[${runtime}]
restrict_oom_score_adj = true
[${runtime}.cni]
bin_dirs = ${JSON.stringify(cni)}
[${runtime}.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
[${runtime}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}

function cniConfig(bridge: string, subnet: string): string {
  const ranges = [[{ subnet: `${subnet}.0/24` }]];
  const ipam = { type: 'host-local', ranges, routes: [{ dst: '0.0.0.0/0' }] };
  const plugin = { type: 'bridge', bridge, isGateway: true, hairpinMode: true, ipam };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins: [plugin] });
}

function kubeletConfig(address: string, cgroupRoot: string, clientCa: string): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    healthzPort: 0,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: clientCa } },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    failCgroupV1: false,
    failSwapOn: false,
    resolvConf: '',
    nodeLeaseDurationSeconds: LEASE_SECONDS,
    nodeStatusUpdateFrequency: '2s',
    // The disk of the machine is nobody's business here, and no image could be fetched again.
    imageGCHighThresholdPercent: 100,
    evictionHard: {
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
  });
}

/** One node. It can be killed as by a power cut, and started again on what its disk holds. */
export class RealNode {
  readonly dir: string;
  readonly address: string;
  /** Its control group, in each hierarchy. */
  readonly cgroupRoot: string;
  #process: Child | undefined;

  private constructor(
    private readonly cluster: Cluster,
    readonly shape: NodeShape,
    private readonly kubeconfig: string,
  ) {
    this.dir = join(cluster.dir, shape.name);
    this.cgroupRoot = `/${group()}/${shape.name}`;
    this.address = `10.210.${shape.index}.1`;
  }

  /** Makes the node's identity, bridge and folders, and starts it; resolves when it is ready. */
  static async start(cluster: Cluster, shape: NodeShape): Promise<RealNode> {
    const { name } = shape;
    const user = `system:node:${name}`;
    await cluster.identities.add(name, user, ['system:nodes']);
    const node = new RealNode(cluster, shape, cluster.kubeconfig(name));
    node.#prepare();
    node.boot();
    await node.ready();
    return node;
  }

  get name(): string {
    return this.shape.name;
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** Starts containerd and the kubelet; after kill() they find what they had written. */
  boot(): void {
    const apart = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child'];
    this.#process = this.cluster.spawn(`node-${this.name}`, [
      ...apart,
      join(import.meta.dir, 'node.sh'),
      this.dir,
      nodeBinaries(),
      `--config=${join(this.dir, 'kubelet.json')}`,
      `--kubeconfig=${this.kubeconfig}`,
      `--hostname-override=${this.name}`,
      `--node-ip=${this.address}`,
      '-v=2',
    ]);
  }

  /**
   * Every process of the node is killed at once, containers and all; resolves when they are gone, and
   * with them what the kernel of a machine would forget.
   */
  async kill(): Promise<void> {
    const process = this.#process;
    if (process === undefined) return;
    const first = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
    process.kill('SIGKILL');
    await process.waitExit();
    // Process 1 of a namespace is the last that can be seen to go.
    const ids = first.trim().split(' ').map(Number);
    await eventually(() => !ids.some(lives), {
      describe: `the processes of ${this.name} are gone`,
    });
    await emptyGroups(this.cgroupRoot);
  }

  /** Waits until the API server has the node as ready, and nothing keeps pods away from it. */
  async ready(): Promise<void> {
    const wanted = ({ status, spec }: Obj): boolean => {
      if (!this.running) throw new Error(`${this.name} ended\n${this.tell()}`);
      const ready = (status?.conditions ?? []).find((one: Obj) => one.type === 'Ready');
      return ready?.status === 'True' && (spec?.taints ?? []).length === 0;
    };
    try {
      const options = { timeoutMs: REGISTER_TIMEOUT_MS, describe: `node ${this.name} is ready` };
      await this.cluster.api.waitFor('nodes', '', this.name, wanted, options);
    } catch (error) {
      throw new Error(`${error}\n${this.tell()}`);
    }
  }

  /** The last lines of what its processes have said. */
  tell(): string {
    const logs = readdirSync(this.dir).filter((file) => file.endsWith('.log'));
    const parts = logs.map((file) => {
      const lines = readFileSync(join(this.dir, file), 'utf8').trimEnd().split('\n');
      return [`${this.name} ${file}:`, ...lines.slice(-LOG_LINES)].join('\n  ');
    });
    return [this.#process?.tail() ?? '', ...parts].join('\n');
  }

  #prepare(): void {
    const { index } = this.shape;
    const bridge = `pods${index}`;
    mkdirSync(this.dir, { recursive: true });
    for (const words of [
      `link add ${bridge} type bridge`,
      `addr add ${this.address}/24 dev ${bridge}`,
      `link set ${bridge} up`,
    ]) {
      const run = Bun.spawnSync(['ip', ...words.split(' ')]);
      if (!run.success) throw new Error(`ip ${words}: ${run.stderr}`);
    }
    makeGroups(this.cgroupRoot);
    const ca = this.cluster.files.ca;
    const write = (file: string, text: string) => writeFileSync(join(this.dir, file), text);
    write('containerd.toml', containerdConfig());
    write('cni.conflist', cniConfig(bridge, `10.210.${index}`));
    write('kubelet.json', kubeletConfig(this.address, this.cgroupRoot, ca));
  }
}
