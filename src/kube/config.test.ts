import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { failureOf } from '../../test/kube/support/parts.ts';
import { Authority, type Pair } from '../../test/rig/certs.ts';
import { ConfigError, loadClientConfig } from './index.ts';

let folder: string;
let authority: Authority;
let pair: Pair;
let other: Pair;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  authority = await Authority.create('ca');
  pair = await authority.issue({ commonName: 'me' });
  other = await authority.issue({ commonName: 'other' });
  const files: Record<string, string> = {
    'ca.crt': authority.certPem,
    'me.crt': pair.certPem,
    'me.key': pair.keyPem,
    token: 'from-a-file\n',
    empty: '',
    'not.pem': 'hello',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

interface Parts {
  top?: Record<string, unknown>;
  context?: Record<string, unknown>;
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
}

/** A kubeconfig that works, with parts of it replaced (undefined: left out). */
function kubeconfig({ top, context, cluster, user }: Parts = {}): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...context } }],
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://10.0.0.1:6443', 'certificate-authority': 'ca.crt', ...cluster },
      },
    ],
    users: [{ name: 'u', user: { token: 'secret', ...user } }],
    ...top,
  });
}

function load(text: string, master?: string) {
  const path = join(folder, 'config');
  writeFileSync(path, text);
  return loadClientConfig({ kubeconfig: path, master, env: {} });
}

describe('a kubeconfig', () => {
  test('with a token and a CA file', async () => {
    expect(await load(kubeconfig())).toMatchObject({
      server: 'https://10.0.0.1:6443',
      namespace: 'default',
      source: `kubeconfig ${folder}/config, context "here"`,
      ca: { file: join(folder, 'ca.crt') },
      insecureSkipTlsVerify: false,
      token: 'secret',
    });
  });

  test('with certificates as data, a namespace, a path behind the server, a proxy', async () => {
    const config = await load(
      kubeconfig({
        context: { namespace: 'kube-system' },
        cluster: {
          server: 'https://front/clusters/one/',
          'certificate-authority': undefined,
          'certificate-authority-data': base64(authority.certPem),
          'tls-server-name': 'kubernetes',
          'proxy-url': 'http://proxy:3128',
        },
        user: {
          token: undefined,
          'client-certificate-data': base64(pair.certPem),
          'client-key-data': base64(pair.keyPem),
        },
      }),
    );
    expect(config).toMatchObject({
      server: 'https://front/clusters/one',
      namespace: 'kube-system',
      ca: { pem: authority.certPem },
      tlsServerName: 'kubernetes',
      proxyUrl: 'http://proxy:3128',
      clientCertificate: { cert: { pem: pair.certPem }, key: { pem: pair.keyPem } },
    });
  });

  test('with files beside it, a token file, basic credentials, impersonation', async () => {
    const files = { 'client-certificate': 'me.crt', 'client-key': join(folder, 'me.key') };
    const as = { as: 'eve', 'as-uid': '1', 'as-groups': ['g'], 'as-user-extra': { why: ['x'] } };
    const user = {
      token: undefined,
      tokenFile: 'token',
      username: 'bob',
      password: 'pw',
      ...files,
      ...as,
    };
    expect(await load(kubeconfig({ user }))).toMatchObject({
      clientCertificate: {
        cert: { file: join(folder, 'me.crt') },
        key: { file: join(folder, 'me.key') },
      },
      tokenFile: join(folder, 'token'),
      basic: { username: 'bob', password: 'pw' },
      impersonate: { user: 'eve', uid: '1', group: 'g', extra: { why: 'x' } },
    });
  });

  test('with a plugin', async () => {
    const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'a' } };
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './bin/login',
      args: ['-q'],
      env: [{ name: 'A', value: 'b' }],
      interactiveMode: 'Never',
      provideClusterInfo: true,
    };
    const config = await load(
      kubeconfig({ cluster: { extensions: [extension] }, user: { token: undefined, exec } }),
    );
    expect(config.exec).toMatchObject({
      command: join(folder, 'bin/login'),
      args: ['-q'],
      env: [{ name: 'A', value: 'b' }],
      provideClusterInfo: true,
      clusterConfig: { audience: 'a' },
    });
  });

  test('as JSON, and plain data that another thread can be given', async () => {
    const config = await load(JSON.stringify(Bun.YAML.parse(kubeconfig())));
    expect(structuredClone(config)).toEqual(config);
  });

  test('over plain http: no secret is used', async () => {
    const config = await load(
      kubeconfig({
        cluster: { server: 'http://127.0.0.1:8080', 'certificate-authority': undefined },
      }),
    );
    expect(config.server).toBe('http://127.0.0.1:8080');
    expect(config.token).toBeUndefined();
  });

  test('--master replaces the server and the name in its certificate', async () => {
    const cluster = { 'tls-server-name': 'kubernetes' };
    const config = await load(kubeconfig({ cluster }), '127.0.0.1:7443');
    expect(config.server).toBe('https://127.0.0.1:7443');
    expect(config.tlsServerName).toBeUndefined();
    expect(config.token).toBe('secret');
  });

  test('other contexts, clusters and users may be wrong', async () => {
    const top = {
      clusters: [
        { name: 'c', cluster: { server: 'https://a' } },
        { name: 'old', cluster: { 'certificate-authority': '/gone' } },
      ],
      users: [
        { name: 'u', user: { token: 't' } },
        { name: 'old', user: { 'auth-provider': {} } },
      ],
    };
    expect((await load(kubeconfig({ top }))).server).toBe('https://a');
  });
});

describe('a kubeconfig that cannot work', () => {
  const noCa = { 'certificate-authority': undefined };
  const exec = (more: object) => ({
    token: undefined,
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'x',
      interactiveMode: 'Never',
      ...more,
    },
  });
  const cases: [string, () => string, string | RegExp][] = [
    [
      'no YAML',
      () => 'a: [1,\n b: 2',
      /is not valid YAML: .* at line 2, column \d+; valid: a kubeconfig in YAML or JSON$/,
    ],
    ['nothing in it', () => '', 'is empty; valid: a kubeconfig in YAML or JSON'],
    ['a text', () => 'hello', 'is the text "hello"; valid: a kubeconfig in YAML or JSON'],
    ['another kind', () => kubeconfig({ top: { kind: 'Pod' } }), 'kind is "Pod"; valid: "Config"'],
    [
      'another version',
      () => kubeconfig({ top: { apiVersion: 'v2' } }),
      'apiVersion is "v2"; valid: "v1"',
    ],
    [
      'no current context',
      () => kubeconfig({ top: { 'current-context': '' } }),
      'current-context is not set; valid: one of contexts ("here")',
    ],
    [
      'a context that is not there',
      () => kubeconfig({ top: { 'current-context': 'prod' } }),
      'current-context is "prod", which is not in contexts; valid: one of contexts ("here")',
    ],
    [
      'contexts that are no list',
      () => kubeconfig({ top: { contexts: { here: {} } } }),
      'contexts is a mapping; valid: a list',
    ],
    [
      'a context without a cluster',
      () => kubeconfig({ context: { cluster: undefined } }),
      'contexts["here"].context.cluster is not set; valid: one of clusters ("c")',
    ],
    [
      'a cluster that is not there',
      () => kubeconfig({ context: { cluster: 'd' } }),
      'contexts["here"].context.cluster is "d", which is not in clusters; valid: one of clusters ("c")',
    ],
    [
      'a user that is not there',
      () => kubeconfig({ context: { user: 'v' } }),
      'contexts["here"].context.user is "v", which is not in users; valid: one of users ("u")',
    ],
    [
      'a namespace that can be none',
      () => kubeconfig({ context: { namespace: 'Kube_System' } }),
      /contexts\["here"\]\.context\.namespace is "Kube_System"; valid: lower-case letters/,
    ],
    [
      'no server',
      () => kubeconfig({ cluster: { server: undefined } }),
      'clusters["c"].cluster.server is not set; valid: a URL, e.g. https://10.0.0.1:6443',
    ],
    [
      'a server that is no URL',
      () => kubeconfig({ cluster: { server: 'https://a b' } }),
      'clusters["c"].cluster.server is "https://a b", which is no URL; ' +
        'valid: a URL or host:port, e.g. https://10.0.0.1:6443',
    ],
    [
      'a server over another protocol',
      () => kubeconfig({ cluster: { server: 'ftp://a' } }),
      /server is "ftp:\/\/a", neither http nor https; valid: a URL/,
    ],
    [
      'a number where a text belongs',
      () => kubeconfig({ user: { token: 12345 } }),
      'users["u"].user.token is the number 12345; valid: a text (put it in quotes)',
    ],
    [
      'a CA file that is not there',
      () => kubeconfig({ cluster: { 'certificate-authority': 'gone.crt' } }),
      /certificate-authority is \/.*\/gone\.crt, which does not exist; valid: the path of a readable PEM file$/,
    ],
    [
      'a CA file that holds something else',
      () => kubeconfig({ cluster: { 'certificate-authority': 'not.pem' } }),
      /not\.pem, which holds no "-----BEGIN CERTIFICATE-----" block; valid/,
    ],
    [
      'a CA twice',
      () => kubeconfig({ cluster: { 'certificate-authority-data': base64(authority.certPem) } }),
      'clusters["c"].cluster.certificate-authority-data and certificate-authority are both given; ' +
        'valid: only one of the two',
    ],
    [
      'a CA in plain PEM where base64 belongs',
      () => kubeconfig({ cluster: { ...noCa, 'certificate-authority-data': authority.certPem } }),
      'clusters["c"].cluster.certificate-authority-data is not base64 (it is plain PEM); ' +
        'valid: PEM in base64, in one line',
    ],
    [
      'a broken certificate',
      () => {
        const broken = authority.certPem
          .replace(/[A-Za-z]{8}\n-----END/, 'AAAAAAAA\n-----END')
          .slice(0, -40);
        return kubeconfig({ cluster: { ...noCa, 'certificate-authority-data': base64(broken) } });
      },
      /certificate-authority-data holds (no|a broken)/,
    ],
    [
      'a CA although nothing is verified',
      () => kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }),
      'clusters["c"].cluster.insecure-skip-tls-verify is true although a certificate-authority ' +
        'is given; valid: only one of the two',
    ],
    [
      'a flag that is a text',
      () => kubeconfig({ cluster: { 'insecure-skip-tls-verify': 'yes' } }),
      'clusters["c"].cluster.insecure-skip-tls-verify is the text "yes"; valid: true or false',
    ],
    [
      'a proxy that can not be used',
      () => kubeconfig({ cluster: { 'proxy-url': 'socks5://p:1080' } }),
      /proxy-url is "socks5:\/\/p:1080"; valid: an http or https URL/,
    ],
    [
      'a certificate without a key',
      () => kubeconfig({ user: { 'client-certificate': 'me.crt' } }),
      'users["u"].user.client-key is not set although a client certificate is given; ' +
        'valid: client-key (a file) or client-key-data (base64)',
    ],
    [
      'a key without a certificate',
      () => kubeconfig({ user: { 'client-key': 'me.key' } }),
      /client-certificate is not set although a client key is given/,
    ],
    [
      'a key of another certificate',
      () =>
        kubeconfig({
          user: { 'client-certificate': 'me.crt', 'client-key-data': base64(other.keyPem) },
        }),
      'users["u"].user.client-key does not belong to the client certificate; ' +
        'valid: the private key that the certificate was made for',
    ],
    [
      'a key that is none',
      () => kubeconfig({ user: { 'client-certificate': 'me.crt', 'client-key': 'me.crt' } }),
      /client-key is \/.*\/me\.crt, which holds no "-----BEGIN \.\.\. PRIVATE KEY-----" block/,
    ],
    [
      'a token file that is empty',
      () => kubeconfig({ user: { token: undefined, tokenFile: 'empty' } }),
      /tokenFile is \/.*\/empty, which is empty; valid: the path of a file that holds a bearer token$/,
    ],
    [
      'a token file that is a folder',
      () => kubeconfig({ user: { token: undefined, tokenFile: '.' } }),
      /tokenFile is \/.*, which is a directory; valid/,
    ],
    [
      'a token and a password',
      () => kubeconfig({ user: { username: 'bob', password: 'x' } }),
      'users["u"].user.token and username are both given; valid: only one of the two',
    ],
    [
      'a password of nobody',
      () => kubeconfig({ user: { token: undefined, password: 'x' } }),
      'users["u"].user.username is not set although a password is; valid: both or neither',
    ],
    [
      'an auth provider',
      () => kubeconfig({ user: { 'auth-provider': { name: 'oidc' } } }),
      'users["u"].user.auth-provider "oidc" is not supported here; ' +
        'valid: a client certificate, token, tokenFile or an exec plugin',
    ],
    [
      'a plugin without a command',
      () => kubeconfig({ user: exec({ command: undefined }) }),
      'users["u"].user.exec.command is not set; valid: the program that prints the credential',
    ],
    [
      'a plugin of an unknown version',
      () => kubeconfig({ user: exec({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }) }),
      /exec\.apiVersion is "client\.authentication\.k8s\.io\/v1alpha1"; valid: "client/,
    ],
    [
      'a plugin that wants to talk to somebody',
      () => kubeconfig({ user: exec({ interactiveMode: 'Always' }) }),
      'users["u"].user.exec.interactiveMode is "Always"; ' +
        'valid: "Never" or "IfAvailable" (nobody can answer)',
    ],
    [
      'groups of nobody',
      () => kubeconfig({ user: { 'as-groups': ['g'] } }),
      /users\["u"\]\.user\.as is not set although as-uid, as-groups or as-user-extra is/,
    ],
    [
      'several groups',
      () => kubeconfig({ user: { as: 'eve', 'as-groups': ['g', 'h'] } }),
      'users["u"].user.as-groups has 2 entries; valid: at most one',
    ],
  ];
  for (const [name, text, expected] of cases) {
    test(name, async () => {
      const error = await failureOf(load(text()));
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toStartWith(`kubeconfig ${folder}/config: `);
      if (typeof expected === 'string') expect(error.message).toEndWith(`: ${expected}`);
      else expect(error.message).toMatch(expected);
    });
  }

  test('a file that is not there, a folder', async () => {
    const missing = await failureOf(loadClientConfig({ kubeconfig: '/no/such', env: {} }));
    expect(missing).toBeInstanceOf(ConfigError);
    expect(missing.message).toBe(
      '--kubeconfig /no/such: does not exist; give the path of a readable kubeconfig file',
    );
    const directory = await failureOf(loadClientConfig({ kubeconfig: folder, env: {} }));
    expect(directory.message).toContain('is a directory; give the path');
  });
});

describe('--master alone', () => {
  test('is asked without credentials', async () => {
    const config = await loadClientConfig({ master: '127.0.0.1:8080', env: {} });
    expect(config).toMatchObject({ server: 'http://127.0.0.1:8080', source: '--master' });
    expect(config.token).toBeUndefined();
  });

  test('must be a URL or an address', async () => {
    const message = async (master: string) =>
      (await failureOf(loadClientConfig({ master, env: {} }))).message;
    expect(await message('https://')).toStartWith(
      '--master: is "https://", which is no URL; valid:',
    );
    expect(await message('host/path')).toContain('is "host/path", a path without a scheme; valid:');
  });
});

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  function mounted(name: string, files: Record<string, string>): string {
    const directory = join(folder, name);
    mkdirSync(directory);
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text);
    return directory;
  }

  test('the service account is used', async () => {
    const serviceAccountDirectory = mounted('pod', {
      token: 'pod-token',
      'ca.crt': authority.certPem,
      namespace: 'mine\n',
    });
    expect(await loadClientConfig({ env, serviceAccountDirectory })).toMatchObject({
      server: 'https://[fd00::1]:443',
      namespace: 'mine',
      source: 'in-cluster configuration',
      ca: { file: join(serviceAccountDirectory, 'ca.crt') },
      tokenFile: join(serviceAccountDirectory, 'token'),
    });
    const named = { ...env, POD_NAMESPACE: 'told' };
    const config = await loadClientConfig({ env: named, serviceAccountDirectory });
    expect(config.namespace).toBe('told');
  });

  test('a broken CA bundle means the system’s, as upstream', async () => {
    const serviceAccountDirectory = mounted('broken', { token: 't', 'ca.crt': 'hello' });
    const config = await loadClientConfig({ env, serviceAccountDirectory });
    expect(config.ca).toBeUndefined();
    expect(config.namespace).toBe('default');
  });

  test('what is missing is named', async () => {
    const valid = 'give --kubeconfig or --master, or run in a pod that has a service account';
    const nowhere = await failureOf(loadClientConfig({ env: {} }));
    expect(nowhere).toBeInstanceOf(ConfigError);
    expect(nowhere.message).toBe(
      `no --kubeconfig and no --master: KUBERNETES_SERVICE_HOST is not set; ${valid}`,
    );
    const serviceAccountDirectory = mounted('tokenless', {});
    const tokenless = await failureOf(loadClientConfig({ env, serviceAccountDirectory }));
    expect(tokenless.message).toBe(
      `in-cluster configuration: ${serviceAccountDirectory}/token does not exist; ${valid}`,
    );
  });
});
