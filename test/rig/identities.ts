/** The files of a control plane: authorities, certificates, keys and kubeconfigs in its folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Authority, type Pair, serviceAccountKeys } from './certs.ts';
import { kubeconfigText } from './kubeconfig.ts';

/** Short names of the identities every cluster has. */
export const PRESET_USERS = {
  admin: { commonName: 'rig-admin', groups: ['system:masters'] },
  'kube-controller-manager': { commonName: 'system:kube-controller-manager', groups: [] },
  'kube-scheduler': { commonName: 'system:kube-scheduler', groups: [] },
  /** Authenticated, but allowed nothing. */
  nobody: { commonName: 'nobody', groups: [] },
} as const;

export type PresetUser = keyof typeof PRESET_USERS;

/** Paths of what a manager or API server is started with. */
export interface ClusterFiles {
  readonly ca: string;
  readonly caKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** Cluster signing certificate and key: the same authority as `ca`. */
  readonly signingCert: string;
  readonly signingKey: string;
  readonly frontProxyCa: string;
  readonly frontProxyCert: string;
  readonly frontProxyKey: string;
  /** A serving certificate for 127.0.0.1 and localhost. */
  readonly servingCert: string;
  readonly servingKey: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
}

const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', users: ['system:apiserver', 'system:kube-scheduler'] },
    { level: 'None', nonResourceURLs: ['/healthz*', '/readyz*', '/livez*'] },
    { level: 'Metadata' },
  ],
};

const SERVER_HOSTS = [
  '127.0.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  '10.96.0.1',
];

/** Writes everything a cluster needs into `dir` and keeps the authority for more users. */
export class Identities {
  readonly #users = new Map<string, Pair>();
  readonly #byCommonName = new Map<string, Pair>();
  #copies = 0;

  private constructor(
    readonly dir: string,
    readonly authority: Authority,
    readonly files: ClusterFiles,
    private readonly server: string,
  ) {}

  static async create(dir: string, server: string, keys: 'rsa' | 'ecdsa'): Promise<Identities> {
    mkdirSync(join(dir, 'pki'), { recursive: true });
    const write = (name: string, text: string) => {
      const path = join(dir, 'pki', name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const [authority, frontProxy, account] = await Promise.all([
      Authority.create('rig-ca'),
      Authority.create('rig-front-proxy-ca'),
      serviceAccountKeys(keys),
    ]);
    const [serving, proxyClient] = await Promise.all([
      authority.issue({ commonName: 'rig-server', hosts: SERVER_HOSTS }),
      frontProxy.issue({ commonName: 'front-proxy-client' }),
    ]);
    const ca = write('ca.crt', authority.certPem);
    const caKey = write('ca.key', authority.keyPem);
    const files: ClusterFiles = {
      ca,
      caKey,
      signingCert: ca,
      signingKey: caKey,
      serviceAccountKey: write('sa.key', account.privatePem),
      serviceAccountPublicKey: write('sa.pub', account.publicPem),
      frontProxyCa: write('front-proxy-ca.crt', frontProxy.certPem),
      frontProxyCert: write('front-proxy-client.crt', proxyClient.certPem),
      frontProxyKey: write('front-proxy-client.key', proxyClient.keyPem),
      servingCert: write('server.crt', serving.certPem),
      servingKey: write('server.key', serving.keyPem),
      auditPolicy: write('audit-policy.json', JSON.stringify(AUDIT_POLICY)),
      auditLog: join(dir, 'audit.log'),
    };
    const made = new Identities(dir, authority, files, server);
    const presets = Object.entries(PRESET_USERS);
    await Promise.all(presets.map(([name, as]) => made.add(name, as.commonName, as.groups)));
    return made;
  }

  /** Makes a new user and its kubeconfig file; gives the file's path. */
  async add(name: string, commonName = name, groups: readonly string[] = []): Promise<string> {
    const pair = await this.authority.issue({ commonName, groups });
    this.#users.set(name, pair);
    this.#byCommonName.set(commonName, pair);
    writeFileSync(join(this.dir, 'pki', `user-${name}.crt`), pair.certPem);
    writeFileSync(join(this.dir, 'pki', `user-${name}.key`), pair.keyPem, { mode: 0o600 });
    return this.#write(`${name}.kubeconfig`, name, this.server);
  }

  /** Certificate and key of a user made before. */
  pair(name: string): Pair {
    const pair = this.#users.get(name);
    if (pair) return pair;
    throw new Error(`no rig user "${name}"; there are ${[...this.#users.keys()].join(', ')}`);
  }

  /** The latest certificate and key made for a common name, if there is one. */
  pairOf(commonName: string): Pair | undefined {
    return this.#byCommonName.get(commonName);
  }

  /** The kubeconfig file of a user; with `server` a copy that goes there (through a proxy). */
  kubeconfig(name: string, server?: string): string {
    this.pair(name);
    if (server === undefined) return join(this.dir, `${name}.kubeconfig`);
    this.#copies += 1;
    return this.#write(`${name}-${this.#copies}.kubeconfig`, name, server);
  }

  #write(file: string, name: string, server: string): string {
    const path = join(this.dir, file);
    const text = kubeconfigText(server, this.authority.certPem, name, this.pair(name));
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }
}
