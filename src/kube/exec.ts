/** Credential plugins of a kubeconfig, run through @kubernetes/client-node. */
import { TransportError } from '../api/errors.ts';
import type { ClientConfig, ExecPlugin } from './client-config.ts';
import { pemText } from './pem.ts';

/** What a plugin gave; it may be a token, a certificate, or both. */
export interface ExecCredential {
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

interface Applied {
  headers?: Record<string, string>;
  cert?: string;
  key?: string;
}

/** Applies the plugin's credential to options; runs the plugin when the last one has expired. */
type Runner = (options: Applied) => Promise<void>;

/** Asks a plugin for credentials; keeps them until they expire or the server refuses them. */
export class ExecCredentials {
  readonly #plugin: ExecPlugin;
  readonly #config: ClientConfig;
  #runner: Promise<Runner> | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(plugin: ExecPlugin, config: ClientConfig) {
    this.#plugin = plugin;
    this.#config = config;
  }

  /** The credential of now. Throws TransportError if the plugin fails: nothing can be sent. */
  get(): Promise<ExecCredential> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The server refused the credential: the next request runs the plugin again. */
  expire(): void {
    this.#runner = undefined;
  }

  async #ask(): Promise<ExecCredential> {
    const options: Applied = {};
    try {
      this.#runner ??= openRunner(this.#plugin, this.#config);
      const run = await this.#runner;
      await run(options);
    } catch (error) {
      throw new TransportError(this.#failure(error), error);
    }
    const authorization = options.headers?.Authorization;
    if (authorization === undefined && options.cert === undefined) {
      throw new TransportError(this.#failure('it printed neither a token nor a certificate'));
    }
    return { authorization, cert: options.cert, key: options.key };
  }

  #failure(error: unknown): string {
    const why = error instanceof Error ? error.message.trim() : String(error);
    const hint = this.#plugin.installHint;
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const command = JSON.stringify(this.#plugin.command);
    return (
      `${this.#config.source}: the exec plugin ${command} gave no credential: ${why}` +
      (missing && hint !== undefined ? ` (${hint})` : '')
    );
  }
}

/** Loads the library only here: few kubeconfigs have a plugin, and it costs 20 MiB of memory. */
async function openRunner(plugin: ExecPlugin, config: ClientConfig): Promise<Runner> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const library = new KubeConfig();
  library.loadFromClusterAndUser(
    { name: 'cluster', server: config.server, skipTLSVerify: true },
    {
      name: 'user',
      exec: {
        command: plugin.command,
        args: plugin.args,
        env: [...plugin.env, { name: 'KUBERNETES_EXEC_INFO', value: execInfo(plugin, config) }],
      },
    },
  );
  return (options) => library.applyToHTTPSOptions(options);
}

/** What the plugin is told, as upstream does it. */
function execInfo(plugin: ExecPlugin, config: ClientConfig): string {
  const ca = config.ca === undefined ? undefined : Buffer.from(pemText(config.ca));
  const cluster = {
    server: config.server,
    'tls-server-name': config.tlsServerName,
    'insecure-skip-tls-verify': config.insecureSkipTlsVerify || undefined,
    'certificate-authority-data': ca?.toString('base64'),
    'proxy-url': config.proxyUrl,
    config: plugin.clusterConfig,
  };
  const spec = { cluster: plugin.provideClusterInfo ? cluster : undefined, interactive: false };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion: plugin.apiVersion, spec });
}
