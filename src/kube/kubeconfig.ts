/** Reads a kubeconfig file as kubectl and upstream's components do, and checks what it will use. */
import { dirname } from 'node:path';
import { type ClientConfig, serverUrl } from './client-config.ts';
import { quoted, wrong } from './config-error.ts';
import { isFields, kindOf, Section } from './fields.ts';
import { readCluster } from './kubeconfig-cluster.ts';
import { readUser } from './kubeconfig-user.ts';

const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * The client configuration of the current context. `master` ("" for none) replaces the server and,
 * as upstream, drops tls-server-name with it. Credentials are only read for an https server.
 * Throws ConfigError; everything else in the file may be wrong without harm.
 */
export async function parseKubeconfig(
  text: string,
  path: string,
  master: string,
): Promise<ClientConfig> {
  const file = `kubeconfig ${path}`;
  const root = new Section(file, '', await parseYaml(text, file));
  checkKind(root);
  const context = currentContext(root, master);
  const clusterPart = context === undefined ? undefined : named(root, 'cluster', context);
  const userPart = context === undefined ? undefined : named(root, 'user', context);
  const directory = dirname(path);
  const cluster = clusterPart === undefined ? {} : readCluster(clusterPart, directory);
  const secure = cluster.ca !== undefined || cluster.insecureSkipTlsVerify === true;
  const server = chooseServer(clusterPart, master, secure || hasClientCertificate(userPart));
  const { tlsServerName, execConfig, ...clusterRest } = cluster;
  const { exec, ...user } =
    userPart === undefined ? {} : readUser(userPart, directory, server.startsWith('https:'));
  return {
    insecureSkipTlsVerify: false,
    ...clusterRest,
    tlsServerName: master === '' ? tlsServerName : undefined,
    ...user,
    exec: exec === undefined ? undefined : { ...exec, clusterConfig: execConfig },
    server,
    namespace: namespaceOf(context),
    source: context === undefined ? file : `${file}, context ${JSON.stringify(contextName(root))}`,
  };
}

async function parseYaml(text: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  const valid = 'valid: a kubeconfig in YAML or JSON';
  let value: unknown;
  try {
    value = Bun.YAML.parse(text);
  } catch (error) {
    throw wrong(file, '', `is not valid YAML: ${await whereItBreaks(text, error)}`, valid, error);
  }
  if (value === null || value === undefined) throw wrong(file, '', 'is empty', valid);
  if (!isFields(value)) throw wrong(file, '', `is ${kindOf(value)}`, valid);
  return value;
}

/** The built-in parser doesn't tell the line; the full one does, and is only loaded for this. */
async function whereItBreaks(text: string, error: unknown): Promise<string> {
  const { parseDocument } = await import('yaml');
  const found = parseDocument(text).errors[0]?.message.split('\n')[0]?.replace(/:$/, '');
  return found ?? (error instanceof Error ? error.message : String(error));
}

function checkKind(root: Section): void {
  const kind = root.text('kind');
  if (kind !== undefined && kind !== 'Config') {
    throw root.wrong('kind', `is ${JSON.stringify(kind)}`, 'valid: "Config"');
  }
  const version = root.text('apiVersion');
  if (version !== undefined && version !== 'v1') {
    throw root.wrong('apiVersion', `is ${JSON.stringify(version)}`, 'valid: "v1"');
  }
}

function contextName(root: Section): string {
  return root.text('current-context') ?? '';
}

/** The `context` part of the current context; undefined if none is chosen and --master is given. */
function currentContext(root: Section, master: string): Section | undefined {
  const name = contextName(root);
  const names = root.sections('contexts').map((entry) => entry.text('name') ?? '');
  if (name === '') {
    if (master !== '') return undefined;
    throw root.wrong('current-context', 'is not set', `valid: one of contexts (${quoted(names)})`);
  }
  return entryNamed(root, 'contexts', 'context', name, `current-context is`);
}

/** The cluster or user that the context names. A context may name no user: anonymous. */
function named(root: Section, what: 'cluster' | 'user', context: Section): Section | undefined {
  const name = context.text(what);
  if (name !== undefined)
    return entryNamed(root, `${what}s`, what, name, `${context.path}.${what} is`);
  if (what === 'user') return undefined;
  const names = root.sections('clusters').map((entry) => entry.text('name') ?? '');
  throw context.wrong('cluster', 'is not set', `valid: one of clusters (${quoted(names)})`);
}

function entryNamed(
  root: Section,
  list: string,
  part: string,
  name: string,
  wanted: string,
): Section {
  const entries = root.sections(list);
  const entry = entries.find((candidate) => candidate.text('name') === name);
  if (entry === undefined) {
    const names = entries.map((candidate) => candidate.text('name') ?? '');
    const valid = `valid: one of ${list} (${quoted(names)})`;
    throw wrong(root.file, wanted, `${JSON.stringify(name)}, which is not in ${list}`, valid);
  }
  const path = `${list}[${JSON.stringify(name)}]`;
  const section = entry.as(path).section(part);
  return section ?? new Section(root.file, `${path}.${part}`, {});
}

function chooseServer(cluster: Section | undefined, master: string, secure: boolean): string {
  if (cluster === undefined || master !== '') return serverUrl(master, secure, '--master', '');
  const text = cluster.text('server');
  if (text === undefined) {
    throw cluster.wrong('server', 'is not set', 'valid: a URL, e.g. https://10.0.0.1:6443');
  }
  return serverUrl(text, secure, cluster.file, `${cluster.path}.server`);
}

function hasClientCertificate(user: Section | undefined): boolean {
  return user?.has('client-certificate') === true || user?.has('client-certificate-data') === true;
}

function namespaceOf(context: Section | undefined): string {
  const namespace = context?.text('namespace');
  if (context === undefined || namespace === undefined) return 'default';
  if (!NAMESPACE_NAME.test(namespace)) {
    const valid = 'valid: lower-case letters, digits and "-", at most 63, e.g. "kube-system"';
    throw context.wrong('namespace', `is ${JSON.stringify(namespace)}`, valid);
  }
  return namespace;
}
