import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { Authority, type Pair } from '../../test/rig/certs.ts';
import { ApiError, TransportError } from '../api/errors.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { createReviews, type Reviews, type ServeOptions, type Serving, serve } from './index.ts';
import { authenticated } from './reviews.ts';
import { PLAIN_OPTIONS, PLAIN_STATUS } from './testing/plain.ts';
import { Authorities, userOf } from './trust.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-who-'));
const clock = systemClock();
const metrics = createMetrics();
let ca: Authority;
let proxyCa: Authority;
let open: Serving[] = [];
let asked: unknown[] = [];

const reviews: Reviews = {
  reviewToken: async (token) =>
    token === 'good' ? { name: 'bob@example.org', groups: [], uid: '', extra: {} } : undefined,
  async reviewAccess(user, _verb, path) {
    asked.push(user);
    return { allowed: false, denied: path === '/flagz', reason: '' };
  },
};

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function served(given: Partial<ServeOptions>): Promise<Serving> {
  const pair = await ca.issue({ commonName: 'serving', hosts: ['127.0.0.1'] });
  const options: ServeOptions = {
    ...PLAIN_OPTIONS,
    certFile: file('tls.crt', pair.certPem),
    keyFile: file('tls.key', pair.keyPem),
    requestHeader: {
      ...PLAIN_OPTIONS.requestHeader,
      caFile: file('proxy-ca.crt', proxyCa.certPem),
      allowedNames: ['front-proxy'],
      extraHeaderPrefixes: ['x-remote-extra-'],
    },
    ...given,
  };
  const log = createLogger({ format: 'text', verbosity: 0, write: () => {}, clock, pid: 1 });
  const serving = await serve(options, {
    status: PLAIN_STATUS,
    metrics,
    clock,
    random: systemRandom(),
    log,
    reviews,
    versions: { runtime: 'bun', binary: '1.36.3', emulation: '1.36' },
    setVerbosity: () => {},
  });
  open.push(serving);
  return serving;
}

async function ask(
  { port }: Serving,
  path: string,
  as?: Pair,
  headers: Record<string, string> = {},
) {
  asked = [];
  const identity = as === undefined ? {} : { cert: as.certPem, key: as.keyPem };
  const tls = { ca: ca.certPem, ...identity };
  const url = `https://127.0.0.1:${port}${path}`;
  const response = await fetch(url, { headers, tls, proxy: '' } as RequestInit);
  return { status: response.status, text: await response.text() };
}

beforeAll(async () => {
  [ca, proxyCa] = await Promise.all([Authority.create('ca'), Authority.create('proxy-ca')]);
});

afterAll(async () => {
  for (const serving of open) await serving.close();
  open = [];
  rmSync(folder, { recursive: true });
});

describe('a client certificate', () => {
  test('without a common name is nobody, whatever groups it names', async () => {
    const serving = await served({ clientCaFile: file('ca.crt', ca.certPem) });
    const nameless = await ca.issue({ commonName: '', groups: ['system:masters'] });
    expect((await ask(serving, '/metrics', nameless)).status).toBe(401);
    const alone = await served({
      clientCaFile: file('ca.crt', ca.certPem),
      requestHeader: { ...NO_PROXY },
    });
    expect((await ask(alone, '/metrics', nameless)).status).toBe(403);
    expect(asked).toMatchObject([{ name: 'system:anonymous' }]);
  });

  test("that the front proxy's authority did not issue is refused if there is no other", async () => {
    const serving = await served({});
    expect((await ask(serving, '/metrics')).status).toBe(403);
    const alice = await ca.issue({ commonName: 'alice' });
    expect((await ask(serving, '/metrics', alice)).status).toBe(401);
    const other = await proxyCa.issue({ commonName: 'other' });
    expect((await ask(serving, '/metrics', other)).status).toBe(401);
    const proxy = await proxyCa.issue({ commonName: 'front-proxy' });
    expect((await ask(serving, '/metrics', proxy)).status).toBe(403);
    expect(asked).toMatchObject([{ name: 'system:anonymous' }]);
  });

  test('names its last common name, and which certificate it is', async () => {
    const twice = await signed({ name: 'CN=first, CN=last, O=dev', issuer: undefined });
    const user = userOf(twice.certificate);
    expect(user).toMatchObject({ name: 'last', groups: ['dev'] });
    const { fingerprint256 } = twice.certificate;
    const digest = fingerprint256.replaceAll(':', '').toLowerCase();
    expect(user?.extra).toEqual({
      'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`],
    });
  });

  test('with several UIDs, or an empty one, is refused', async () => {
    for (const [name, uid] of [
      ['CN=a, 1.3.6.1.4.1.57683.2=7', '7'],
      ['CN=a, 1.3.6.1.4.1.57683.2=7, 1.3.6.1.4.1.57683.2=8', undefined],
    ] as const) {
      const { certificate } = await signed({ name, issuer: undefined });
      expect(userOf(certificate)?.uid).toBe(uid);
    }
  });

  test('counts only under authorities that may vouch for clients', async () => {
    for (const [usage, good] of [
      [undefined, true],
      [x509.ExtendedKeyUsage.clientAuth, true],
      [x509.ExtendedKeyUsage.serverAuth, false],
    ] as const) {
      const root = await signed({ name: 'CN=root', issuer: undefined, usage, ca: true });
      const leaf = await signed({ name: 'CN=leaf', issuer: root });
      const authorities = new Authorities([root.pem]);
      expect(authorities.vouchFor([leaf.certificate], Date.now())).toBe(good);
    }
  });
});

const NO_PROXY = {
  caFile: '',
  allowedNames: [],
  usernameHeaders: [],
  groupHeaders: [],
  uidHeaders: [],
  extraHeaderPrefixes: [],
};

interface Signed {
  readonly name: string;
  readonly keys: CryptoKeyPair;
  readonly pem: string;
  readonly certificate: X509Certificate;
}

async function signed(given: {
  readonly name: string;
  readonly issuer: Signed | undefined;
  readonly usage?: x509.ExtendedKeyUsage | undefined;
  readonly ca?: boolean;
}): Promise<Signed> {
  const { name, issuer, usage, ca: isCa = false } = given;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = (await crypto.subtle.generateKey(algorithm, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const made = await x509.X509CertificateGenerator.create({
    subject: name,
    issuer: issuer?.name ?? name,
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 3_600_000),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: (issuer ?? { keys }).keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(isCa, undefined, true),
      ...(usage === undefined ? [] : [new x509.ExtendedKeyUsageExtension([usage])]),
    ],
  });
  const pem = made.toString('pem');
  return { name, keys, pem, certificate: new X509Certificate(pem) };
}

test('what the cluster publishes counts as a whole or not at all', async () => {
  const serving = await served({ requestHeader: NO_PROXY });
  const proxy = await proxyCa.issue({ commonName: 'front-proxy' });
  const requestHeader = { ...NO_PROXY, usernameHeaders: ['x-remote-user'] };
  const published = { clientCaPem: '', requestHeaderCaPem: proxyCa.certPem, requestHeader };
  serving.trust(published);
  const nameOf = async (header: string): Promise<unknown> => {
    await ask(serving, '/metrics', proxy, { [header]: 'carol' });
    return (asked[0] as { name: string } | undefined)?.name;
  };
  expect(await nameOf('X-Remote-User')).toBe('carol');
  const clientCaPem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  const other = { ...requestHeader, usernameHeaders: ['x-other'] };
  expect(() => serving.trust({ ...published, clientCaPem, requestHeader: other })).toThrow();
  expect(await nameOf('X-Other')).toBe('system:anonymous');
  expect(await nameOf('X-Remote-User')).toBe('carol');
});

describe('headers', () => {
  test('of the front proxy: no empty group, and a key that is escaped badly stays as it is', async () => {
    const serving = await served({});
    const proxy = await proxyCa.issue({ commonName: 'front-proxy' });
    const answer = await ask(serving, '/metrics', proxy, {
      'X-Remote-User': 'carol',
      'X-Remote-Group': '',
      'X-Remote-Extra-a%zz': '1',
      'X-Remote-Extra-b%2Fc': '2',
    });
    expect(answer.status).toBe(403);
    expect(asked).toEqual([
      {
        name: 'carol',
        groups: ['system:authenticated'],
        uid: '',
        extra: { 'a%zz': ['1'], 'b/c': ['2'] },
      },
    ]);
  });

  test('with a bearer token are read as upstream reads them', async () => {
    const serving = await served({});
    const nameOf = async (authorization: string): Promise<unknown> => {
      const { status } = await ask(serving, '/metrics', undefined, {
        Authorization: authorization,
      });
      return status === 401 ? 401 : (asked[0] as { name: string }).name;
    };
    expect(await nameOf('Bearer good')).toBe('bob@example.org');
    expect(await nameOf('bearer good and more')).toBe('bob@example.org');
    expect(await nameOf('Bearer  good')).toBe('system:anonymous');
    expect(await nameOf('Bearer')).toBe('system:anonymous');
    expect(await nameOf('Bearer bad')).toBe(401);
  });
});

const waits: number[] = [];
const TIMES = {
  clock: { sleep: async (ms: number) => void waits.push(ms) },
  random: { next: () => 0.5 },
};

describe('a review', () => {
  test('is tried again if that may help, five times in all', async () => {
    const reset = new TransportError('POST', Object.assign(new Error(), { code: 'ECONNRESET' }));
    for (const [error, tries] of [
      [reset, 5],
      [new ApiError(500, 'etcdserver: leader changed'), 5],
      [new ApiError(429, 'too many'), 5],
      [new ApiError(503, 'away'), 1],
      [new ApiError(503, 'away', undefined, 1), 5],
      [new ApiError(403, 'forbidden'), 1],
      [new TransportError('connection refused'), 1],
    ] as const) {
      let tried = 0;
      waits.length = 0;
      const create = async () => {
        tried++;
        throw error;
      };
      const { reviewToken } = createReviews({ ...TIMES, authentication: { create } });
      const { signal } = new AbortController();
      await expect(reviewToken?.('x', signal)).rejects.toBe(error);
      expect(tried).toBe(tries);
      if (tries > 1) expect(waits.map(Math.round)).toEqual([550, 825, 1238, 1856]);
    }
  });

  test('that both allows and denies is an error, and counts as such', async () => {
    const answers = (status: object) =>
      createReviews({ ...TIMES, authorization: { create: async () => ({ status }) } as never });
    const { signal } = new AbortController();
    const user = { name: 'a', groups: [], uid: '', extra: {} };
    const ask = (status: object) =>
      answers(status).reviewAccess?.(user, 'get', '/metrics', signal) ?? Promise.reject();
    await expect(ask({ allowed: true, denied: true })).rejects.toThrow('both allow and deny');
    expect(await ask({ allowed: true })).toMatchObject({ allowed: true, denied: false });
    expect(await ask({ allowed: false, denied: true, reason: 'x' })).toEqual({
      allowed: false,
      denied: true,
      reason: 'x',
    });
  });

  test('that finds somebody anonymous makes nobody authenticated', () => {
    const named = (name: string, ...groups: string[]) =>
      authenticated({ name, groups, uid: '', extra: {} }).groups;
    expect(named('a', 'x')).toEqual(['x', 'system:authenticated']);
    expect(named('system:anonymous')).toEqual([]);
    expect(named('a', 'system:unauthenticated')).toEqual(['system:unauthenticated']);
  });
});

test('the metrics of who asked have the series of upstream', async () => {
  const serving = await served({});
  const good = { Authorization: 'Bearer good' };
  await ask(serving, '/flagz', undefined, good);
  await ask(serving, '/metrics', undefined, good);
  await ask(serving, '/metrics', undefined, { Authorization: 'Bearer bad' });
  await ask(serving, '/metrics');
  const text = await metrics.serialize();
  const seriesOf = (family: string) =>
    [...text.matchAll(new RegExp(`^${family}\\{([^}]*)\\}`, 'gm'))]
      .map(([, labels]) => labels)
      .sort();
  expect(seriesOf('authentication_attempts')).toEqual(['result="error"', 'result="success"']);
  expect(seriesOf('authenticated_user_requests')).toEqual([
    'username="email_id"',
    'username="other"',
  ]);
  expect(seriesOf('authorization_attempts_total')).toEqual([
    'result="denied"',
    'result="no-opinion"',
  ]);
});
