import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultServer } from '../../test/kube/support/fault-server.ts';
import { configFor, failureOf, partsFor, type TestParts } from '../../test/kube/support/parts.ts';
import { Authority } from '../../test/rig/certs.ts';
import { ApiError, TransportError } from '../api/errors.ts';
import { PODS } from '../api/resource.ts';
import { CREDENTIAL_CHECK_INTERVAL_MS } from '../runtime/limits.ts';
import type { ClientConfig } from './client-config.ts';
import { ConfigError } from './index.ts';

let server: FaultServer;
let folder: string;
beforeAll(async () => {
  server = await FaultServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.reset();
  server.handle = (_, reply) => reply.json(200, { metadata: {} });
  folder = mkdtempSync(join(tmpdir(), 'identity-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = { namespace: 'x', name: 'a' };
const last = () => server.received.at(-1);

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function tokenFrom(tokenFile: string): ClientConfig {
  return configFor(server, { clientCertificate: undefined, tokenFile });
}

/** Lets the time pass after which files are looked at again. */
function untilNextLook(parts: TestParts): Promise<void> {
  return parts.clock.advance(CREDENTIAL_CHECK_INTERVAL_MS);
}

describe('credentials on requests', () => {
  test('a token, a password, somebody else’s name', async () => {
    const of = async (more: Partial<ClientConfig>) => {
      const config = configFor(server, { clientCertificate: undefined, ...more });
      await partsFor(config).factory.client('t').get(PODS, at);
      return last()?.headers ?? {};
    };
    expect((await of({ token: 'abc' })).authorization).toBe('Bearer abc');
    const basic = { username: 'bob', password: 'a:b' };
    expect((await of({ basic })).authorization).toBe(`Basic ${btoa('bob:a:b')}`);
    const impersonate = { user: 'eve', uid: '1', group: 'g', extra: { 'a/b': 'x' } };
    const headers = await of({ token: 'abc', impersonate });
    expect(headers).toMatchObject({
      'impersonate-user': 'eve',
      'impersonate-uid': '1',
      'impersonate-group': 'g',
      'impersonate-extra-a%2fb': 'x',
    });
    expect(last()?.clientName).toBe('');
  });
});

test('this machine is reached directly, whatever proxy the environment names', async () => {
  const before = process.env.HTTPS_PROXY;
  process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
  try {
    await partsFor(configFor(server)).factory.client('t').get(PODS, at);
    const proxied = partsFor(configFor(server, { proxyUrl: 'http://127.0.0.1:1' })).factory;
    expect(await failureOf(proxied.client('t').get(PODS, at))).toBeInstanceOf(TransportError);
  } finally {
    if (before === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = before;
  }
  expect(server.received.length).toBe(1);
});

describe('files that change', () => {
  test('a token is read again after a while, not before', async () => {
    const path = file('token', 'one');
    const parts = partsFor(tokenFrom(path));
    const client = parts.factory.client('t');
    await client.get(PODS, at);
    file('token', 'two\n');
    await client.get(PODS, at);
    expect(last()?.headers.authorization).toBe('Bearer one');
    await untilNextLook(parts);
    await client.get(PODS, at);
    expect(last()?.headers.authorization).toBe('Bearer two');
  });

  test('a token is read again at once after a 401', async () => {
    const path = file('token', 'one');
    const client = partsFor(tokenFrom(path)).factory.client('t');
    server.handle = (request, reply) =>
      request.headers.authorization === 'Bearer two'
        ? reply.json(200, { metadata: {} })
        : reply.json(401, {});
    file('token', 'two');
    const error = (await failureOf(client.get(PODS, at))) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error.code).toBe(401);
    await client.get(PODS, at);
    expect(server.received.length).toBe(2);
  });

  test('a token file that vanishes or is emptied leaves the old token in use', async () => {
    const path = file('token', 'one');
    const parts = partsFor(tokenFrom(path));
    const client = parts.factory.client('t');
    for (const change of [() => file('token', ''), () => rmSync(path)]) {
      change();
      await untilNextLook(parts);
      await client.get(PODS, at);
      expect(last()?.headers.authorization).toBe('Bearer one');
    }
    expect(parts.log.lines.filter((line) => line.startsWith('E changed credentials'))).toEqual([
      `E changed credentials are not usable, the old ones stay: ConfigError: ${path} is empty, not a bearer token`,
      `E changed credentials are not usable, the old ones stay: ConfigError: ${path} does not exist`,
    ]);
  });

  test('a new client certificate is used on new connections', async () => {
    const renewed = await server.authority.issue({ commonName: 'renewed' });
    const cert = { file: file('me.crt', server.client.certPem) };
    const key = { file: file('me.key', server.client.keyPem) };
    const parts = partsFor(configFor(server, { clientCertificate: { cert, key } }));
    const client = parts.factory.client('t');
    await client.get(PODS, at);
    expect(last()?.clientName).toBe('client');
    file('me.crt', renewed.certPem);
    await untilNextLook(parts);
    await client.get(PODS, at);
    expect(last()?.clientName).toBe('client');
    const mismatch = 'the client key does not belong to the certificate';
    expect(parts.log.lines.filter((line) => line.includes(mismatch)).length).toBe(1);
    file('me.key', renewed.keyPem);
    await untilNextLook(parts);
    await client.get(PODS, at);
    expect(last()?.clientName).toBe('renewed');
    const text = await parts.metrics.serialize();
    expect(text).toContain('rest_client_transport_cache_entries 1');
    expect(text).toContain('rest_client_transport_create_calls_total{result="miss"} 2');
  });

  test('a new CA bundle is trusted, and told with its hash', async () => {
    const added = await Authority.create('added');
    const ca = { file: file('ca.crt', added.certPem) };
    const parts = partsFor(configFor(server, { ca }));
    const before = parts.factory.caHash;
    expect(parts.factory.caPem).toBe(added.certPem);
    const client = parts.factory.client('t');
    expect(await failureOf(client.get(PODS, at))).toBeInstanceOf(TransportError);
    file('ca.crt', added.certPem + server.authority.certPem);
    await untilNextLook(parts);
    await client.get(PODS, at);
    expect(parts.factory.caHash).toMatch(/^[0-9a-f]{64}$/);
    expect(parts.factory.caHash).not.toBe(before);
    file('ca.crt', 'garbage');
    await untilNextLook(parts);
    await client.get(PODS, at);
    const text = await parts.metrics.serialize();
    for (const labels of [
      'result="success",reason="updated"',
      'result="failure",reason="ca_parse_error"',
    ]) {
      expect(text).toContain(`rest_client_transport_ca_reload_total{${labels}} 1`);
    }
  });

  test('what can’t be used at the start is refused', () => {
    const path = file('token', ' ');
    expect(() => partsFor(tokenFrom(path))).toThrow(ConfigError);
    const none = partsFor(configFor(server, { ca: undefined })).factory;
    expect([none.caHash, none.caPem]).toEqual(['', '']);
  });
});

describe('a credential plugin', () => {
  function plugin(script: string, more: object = {}): ClientConfig {
    const command = file('plugin', `#!/bin/sh\n${script}\n`);
    chmodSync(command, 0o755);
    const exec = {
      command,
      args: ['now'],
      env: [{ name: 'EXTRA', value: 'e' }],
      apiVersion: 'client.authentication.k8s.io/v1',
      provideClusterInfo: true,
      clusterConfig: { audience: 'a' },
      ...more,
    };
    return configFor(server, { clientCertificate: undefined, exec });
  }
  const printing = (status: string) =>
    `echo run >> "${folder}/runs"\nprintf '%s' "$KUBERNETES_EXEC_INFO" > "${folder}/info"\n` +
    `printf '%s' '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":${status}}'`;
  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length;

  test('gives a token, is told about the cluster, and runs once', async () => {
    const client = partsFor(plugin(printing('{"token":"t1"}'))).factory.client('t');
    await Promise.all([client.get(PODS, at), client.get(PODS, at)]);
    await client.get(PODS, at);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t1',
      'Bearer t1',
    ]);
    expect(runs()).toBe(1);
    expect(JSON.parse(readFileSync(join(folder, 'info'), 'utf8'))).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: {
        interactive: false,
        cluster: {
          server: server.url,
          'certificate-authority-data': btoa(server.authority.certPem),
          config: { audience: 'a' },
        },
      },
    });
  });

  test('gives a certificate', async () => {
    const { certPem, keyPem } = server.client;
    const status = JSON.stringify({ clientCertificateData: certPem, clientKeyData: keyPem });
    await partsFor(plugin(printing(status)))
      .factory.client('t')
      .get(PODS, at);
    expect(last()?.clientName).toBe('client');
  });

  test('runs again after a 401, and for a credential that has expired', async () => {
    const old = '{"token":"t1","expirationTimestamp":"2001-01-01T00:00:00Z"}';
    const expiring = partsFor(plugin(printing(old))).factory.client('t');
    await expiring.get(PODS, at);
    await expiring.get(PODS, at);
    expect(runs()).toBe(2);
    const refused = partsFor(plugin(printing('{"token":"t1"}'))).factory.client('t');
    server.handle = (_, reply) => reply.json(401, {});
    await failureOf(refused.get(PODS, at));
    await failureOf(refused.get(PODS, at));
    expect(runs()).toBe(4);
  });

  test('that never ends does not hold a request for ever', async () => {
    const parts = partsFor(plugin('exec sleep 1000'));
    const failed = failureOf(parts.factory.client('t').get(PODS, at, { timeoutMs: 5_000 }));
    await parts.clock.advance(5_000);
    expect((await failed).message).toContain('no credentials within 5 s');
  });

  test('that fails means nothing is sent, and says why', async () => {
    const cases: [string, object, string][] = [
      ['echo no login >&2; exit 3', {}, 'gave no credential: no login'],
      ['echo nonsense', {}, 'gave no credential: '],
      [printing('{}'), {}, 'it printed neither a token nor a certificate'],
      ['', { command: '/no/such', installHint: 'get it there' }, '(get it there)'],
    ];
    for (const [script, more, expected] of cases) {
      const error = await failureOf(
        partsFor(plugin(script, more)).factory.client('t').get(PODS, at),
      );
      expect(error).toBeInstanceOf(TransportError);
      expect(error.message).toStartWith('test: the exec plugin "');
      expect(error.message).toContain(expected);
    }
    expect(server.received).toEqual([]);
  });
});
