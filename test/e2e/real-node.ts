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
  /** Its /etc/kubernetes is the folder `kubernetes` in its own; the kubelet runs the manifests there. */
  readonly staticPods?: boolean;
}

interface KubeletShape {
  readonly address: string;
  readonly cgroupRoot: string;
  readonly clientCa: string;
  readonly staticPods: boolean;
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

function kubeletConfig({ address, cgroupRoot, clientCa, staticPods }: KubeletShape): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    healthzPort: 0,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: clientCa } },
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    ...(staticPods ? { staticPodPath: '/etc/kubernetes/manifests' } : {}),
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
  #execs = 0;

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
    const ids = this.#first();
    process.kill('SIGKILL');
    await process.waitExit();
    // Process 1 of a namespace is the last that can be seen to go.
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

  /** Runs a command in a container as `kubectl exec` does; gives what it printed, or throws that. */
  exec(containerId: string, command: readonly string[]): string {
    const within = ['nsenter', `--target=${this.#first()[0]}`, '--mount', '--pid'];
    const ctr = [join(nodeBinaries(), 'ctr'), '--namespace=k8s.io', 'tasks', 'exec'];
    const id = containerId.replace('containerd://', '');
    const run = Bun.spawnSync([...within, ...ctr, `--exec-id=e${++this.#execs}`, id, ...command]);
    if (run.success) return run.stdout.toString();
    throw new Error(`${command.join(' ')}: ${run.exitCode}\n${run.stdout}${run.stderr}`);
  }

  /** What the containers of its pods have printed: a text for each container that ran, by its path. */
  podLogs(pattern: string): Map<string, string> {
    const folder = join(this.dir, 'over/var/log/pods');
    const files = [...new Bun.Glob(pattern).scanSync({ cwd: folder })].sort();
    return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
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

  /** Numbers of the processes that are the first in the node's namespaces. */
  #first(): number[] {
    const { pid } = this.#process as Child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.trim().split(' ').map(Number);
  }

  #prepare(): void {
    const { index, staticPods = false } = this.shape;
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
    const { address, cgroupRoot } = this;
    const clientCa = this.cluster.files.ca;
    const config = { address, cgroupRoot, clientCa, staticPods };
    const write = (file: string, text: string) => writeFileSync(join(this.dir, file), text);
    write('containerd.toml', containerdConfig());
    write('cni.conflist', cniConfig(bridge, `10.210.${index}`));
    write('kubelet.json', kubeletConfig(config));
  }
}
