import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Authority, type Pair } from '../../test/rig/certs.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import type { HealthCheck } from '../runtime/status.ts';
import { type Reviews, type ServeOptions, type Serving, serve } from './index.ts';
import { sampleOverview, sampleTold } from './testing/overview.ts';
import { PLAIN_OPTIONS } from './testing/plain.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-http-'));
const clock = systemClock();
const lines: string[] = [];
let ca: Authority;
let proxyCa: Authority;
let admin: Pair;
let alice: Pair;
let stranger: Pair;
let proxy: Pair;
let pair: Pair;
let serving: Serving;
let checks: HealthCheck[] = [];
let asked: string[] = [];
let options: ServeOptions;

const reviews: Reviews = {
  async reviewToken(token) {
    asked.push(`token ${token}`);
    if (token === 'broken') throw new Error('no answer');
    if (token !== 'good') return undefined;
    return { name: 'bob', groups: ['ops'], uid: '7', extra: {} };
  },
  async reviewAccess(user, verb, path) {
    asked.push(`access ${user.name} ${verb} ${path}`);
    if (path === '/statusz') throw new Error('no answer');
    const allowed = user.name === 'bob' || user.name === 'carol';
    return { allowed, reason: allowed ? '' : 'not today' };
  },
};

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function deps(): Parameters<typeof serve>[1] {
  const log = createLogger({
    format: 'text',
    verbosity: 0,
    write: (line) => void lines.push(line),
    clock,
    pid: 1,
  });
  return {
    status: {
      healthChecks: () => checks,
      configz: () => ({ kind: 'KubeControllerManagerConfiguration' }),
      flagz: () => ({ 'b-flag': '2', 'a-flag': '1' }),
      statusz: () => ({ State: 'resumed' }),
      debug: () => ({ queues: () => [{ name: 'deployment' }] }),
      overview: () => sampleOverview(),
      explain: (word) =>
        word === 'deployment/shop/search'
          ? { told: sampleTold(), resource: 'deployments.apps', key: 'shop/search' }
          : { problem: `nothing is known of ${word}` },
      controllerDebug: () => ({ gc: (path) => (path.endsWith('/graph') ? 'digraph' : undefined) }),
    },
    metrics: createMetrics(),
    clock,
    random: systemRandom(),
    log,
    reviews,
    versions: { runtime: 'bun', binary: '1.36.3', emulation: '1.36' },
    setVerbosity: (level) => void lines.push(`verbosity ${level}`),
  };
}

beforeAll(async () => {
  [ca, proxyCa] = await Promise.all([Authority.create('ca'), Authority.create('proxy-ca')]);
  admin = await ca.issue({ commonName: 'admin', groups: ['system:masters'] });
  alice = await ca.issue({ commonName: 'alice', groups: ['dev'] });
  stranger = await (await Authority.create('other')).issue({ commonName: 'admin' });
  proxy = await proxyCa.issue({ commonName: 'front-proxy' });
  pair = await ca.issue({ commonName: 'serving', hosts: ['127.0.0.1'] });
  options = {
    ...PLAIN_OPTIONS,
    certFile: file('tls.crt', pair.certPem),
    keyFile: file('tls.key', pair.keyPem),
    clientCaFile: file('ca.crt', ca.certPem),
    requestHeader: {
      ...PLAIN_OPTIONS.requestHeader,
      caFile: file('proxy-ca.crt', proxyCa.certPem),
      allowedNames: ['front-proxy'],
      extraHeaderPrefixes: ['x-remote-extra-'],
    },
    alwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
    tokenCacheTtlMs: 10_000,
    authorizedTtlMs: 10_000,
    unauthorizedTtlMs: 10_000,
    profiling: true,
  };
  serving = await serve(options, deps());
});

afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true });
});

async function ask(
  path: string,
  as?: Pair,
  init: RequestInit = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const identity = as === undefined ? {} : { cert: as.certPem, key: as.keyPem };
  const tls = { ca: ca.certPem, ...identity };
  const url = `https://127.0.0.1:${serving.port}${path}`;
  const response = await fetch(url, { ...init, tls, proxy: '' } as RequestInit);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

describe('who may ask', () => {
  test('/healthz is open to everyone, other paths are not', async () => {
    expect(await ask('/healthz')).toMatchObject({ status: 200, text: 'ok' });
    const refused = await ask('/metrics');
    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text)).toMatchObject({
      kind: 'Status',
      reason: 'Forbidden',
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics": not today',
    });
  });

  test('/livez and /readyz are allowed to everyone but are not there', async () => {
    for (const path of ['/livez', '/readyz']) {
      expect(await ask(path)).toMatchObject({ status: 404, text: '404 page not found\n' });
    }
  });

  test('a client certificate of the cluster names user and groups', async () => {
    expect((await ask('/configz', admin)).status).toBe(200);
    const refused = await ask('/configz', alice);
    expect(refused.text).toContain('User \\"alice\\" cannot get path \\"/configz\\"');
  });

  test('a certificate of another authority is nobody', async () => {
    expect((await ask('/configz', stranger)).status).toBe(401);
  });

  test('a bearer token is reviewed once and remembered', async () => {
    asked = [];
    const headers = { Authorization: 'Bearer good' };
    expect((await ask('/configz', undefined, { headers })).status).toBe(200);
    expect((await ask('/configz', undefined, { headers })).status).toBe(200);
    expect(asked).toEqual(['token good', 'access bob get /configz']);
  });

  test('a bad token, or one that cannot be reviewed, is refused', async () => {
    for (const token of ['bad', 'broken']) {
      const headers = { Authorization: `Bearer ${token}` };
      const answer = await ask('/configz', undefined, { headers });
      expect(answer.status).toBe(401);
      expect(JSON.parse(answer.text)).toMatchObject({ message: 'Unauthorized', code: 401 });
    }
  });

  test('the front proxy may name the user, others may not', async () => {
    const headers = { 'X-Remote-User': 'carol', 'X-Remote-Group': 'dev' };
    expect((await ask('/configz', proxy, { headers })).status).toBe(200);
    const byAlice = await ask('/configz', alice, { headers });
    expect(byAlice.text).toContain('alice');
  });

  test('a comma in a proxied name makes no second group', async () => {
    const headers = { 'X-Remote-User': 'dave', 'X-Remote-Group': 'x,system:masters' };
    expect((await ask('/configz', proxy, { headers })).status).toBe(403);
  });

  test('a review that cannot be made is an internal error', async () => {
    const answer = await ask('/statusz?x=1', alice);
    expect(answer).toMatchObject({
      status: 500,
      text: 'Internal Server Error: "/statusz?x=1": no answer\n',
    });
  });

  test('nothing may be cached', async () => {
    expect((await ask('/healthz')).headers.get('cache-control')).toBe('no-cache, private');
  });
});

describe('/healthz', () => {
  test('lists its checks when asked, and all of them when one fails', async () => {
    checks = [
      { name: 'leaderElection', check: () => undefined },
      { name: 'deployment-controller', check: () => undefined },
    ];
    expect((await ask('/healthz?verbose')).text).toBe(
      '[+]leaderElection ok\n[+]deployment-controller ok\nhealthz check passed\n',
    );
    checks = [{ name: 'leaderElection', check: () => 'too old' }];
    expect(await ask('/healthz')).toMatchObject({
      status: 500,
      text: '[-]leaderElection failed: reason withheld\nhealthz check failed\n',
    });
    const excluded = ['x', 'leaderElection', 'b', 'x'].map((name) => `exclude=${name}`).join('&');
    expect((await ask(`/healthz?verbose&${excluded}`)).text).toBe(
      '[+]leaderElection excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "b","x"\n' +
        'healthz check passed\n',
    );
    checks = [];
  });

  test('has no sub-paths', async () => {
    expect((await ask('/healthz/leaderElection', admin)).status).toBe(404);
  });

  test('feeds the indicators', async () => {
    checks = [{ name: 'leaderElection', check: () => undefined }];
    await ask('/healthz');
    const slis = await ask('/metrics/slis', admin);
    expect(slis.text).toContain('kubernetes_healthcheck{name="leaderElection",type="healthz"} 1');
    expect(slis.text).toContain('\nprocess_start_time_seconds ');
    expect(slis.text.match(/^# HELP kubernetes_.* \[STABLE\] /gm)).toHaveLength(2);
    checks = [];
  });
});

describe('pages', () => {
  test('/configz has the key that upstream has', async () => {
    const answer = JSON.parse((await ask('/configz', admin)).text);
    expect(Object.keys(answer)).toEqual(['kubecontrollermanager.config.k8s.io']);
  });

  test('/flagz is text for people, and structured only by its full media type', async () => {
    const text = (await ask('/flagz', admin)).text;
    expect(text).toMatch(
      /^\nkube-controller-manager flagz\nWarning: [^\n]+\na-flag[:= ]+1\nb-flag/,
    );
    const accept = (value: string): RequestInit => ({ headers: { Accept: value } });
    expect((await ask('/flagz', admin, accept('text/*'))).text).toBe(text);
    expect((await ask('/flagz', admin, { method: 'POST' })).text).toBe(text);
    expect((await ask('/flagz', admin, accept('application/json'))).status).toBe(406);
    const full = 'application/json;g=config.k8s.io;v=v1beta1;as=Flagz';
    const structured = JSON.parse((await ask('/flagz', admin, accept(full))).text);
    expect(structured).toMatchObject({ kind: 'Flagz', flags: { 'a-flag': '1', 'b-flag': '2' } });
    const old = await ask('/flagz', admin, accept(full.replace('v1beta1', 'v1alpha1')));
    expect(old.headers.get('warning')).toBe(
      '299 - "This version of the flagz endpoint is deprecated. Please use a newer version."',
    );
  });

  test('/statusz says how long and what', async () => {
    const text = (await ask('/statusz', admin)).text;
    expect(text).toMatch(/\n\nStarted[:= ]+\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d UTC 20\d\d\n/);
    expect(text).toMatch(/Up[:= ]+\d+ hr \d\d min \d\d sec/);
    expect(text).toContain('resumed');
  });

  test('/ is a page for those who may see it, under a strict policy', async () => {
    expect((await ask('/')).status).toBe(403);
    expect((await ask('/', alice)).text).toContain('cannot get path \\"/\\"');
    expect((await ask('/', stranger)).status).toBe(401);
    const page = await ask('/', admin);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toStartWith(
      "default-src 'none'; style-src",
    );
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.text).toContain('shop/checkout');
    expect((await ask('/', admin, { method: 'POST' })).status).toBe(404);
  });

  test('an object is told about as text, JSON or a page, whatever is asked for', async () => {
    const path = '/debug/holdfast/explain/deployment/shop/search';
    const accept = (value: string): RequestInit => ({ headers: { Accept: value } });
    expect((await ask(path, alice)).status).toBe(403);
    expect((await ask(path, admin)).text).toStartWith('Deployment shop/search\n\ndeployment-');
    const json = JSON.parse((await ask(path, admin, accept('application/json'))).text);
    expect(json).toMatchObject({ resource: 'deployments.apps', verdict: 'failing' });
    const page = await ask(path, admin, accept('text/html,application/xhtml+xml'));
    expect(page.text).toStartWith('<!doctype html>');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const none = await ask('/debug/holdfast/explain/pod/a%2Fb/%3Cb%3E', admin, accept('text/html'));
    expect(none.status).toBe(404);
    expect(none.text).toContain('nothing is known of pod/a/b/&lt;b&gt;');
    expect((await ask('/debug/holdfast/explain/%zz', admin)).status).toBe(404);
  });

  test('the verbosity is set by PUT alone', async () => {
    const put = await ask('/debug/flags/v', admin, { method: 'PUT', body: '4' });
    expect(put.text).toBe('successfully set klog.logging.verbosity to 4\n');
    expect(lines).toContain('verbosity 4');
    expect((await ask('/debug/flags/v', admin)).status).toBe(406);
    const bad = await ask('/debug/flags/v', admin, { method: 'PUT', body: 'four' });
    expect(bad.status).toBe(400);
  });

  test('the state of the process and of controllers can be asked', async () => {
    expect(JSON.parse((await ask('/debug/holdfast/queues', admin)).text)).toEqual([
      { name: 'deployment' },
    ]);
    expect((await ask('/debug/holdfast/nothing', admin)).status).toBe(404);
    expect((await ask('/debug/controllers/gc/graph', admin)).text).toBe('digraph');
    expect((await ask('/debug/controllers/gc/other', admin)).status).toBe(404);
  });
});

describe('certificates', () => {
  test('a replaced file is served after a reload', async () => {
    const next = await proxyCa.issue({ commonName: 'renewed', hosts: ['127.0.0.1'] });
    file('tls.key', next.keyPem);
    file('tls.crt', next.certPem);
    serving.reload();
    const url = `https://127.0.0.1:${serving.port}/healthz`;
    const tls = { ca: proxyCa.certPem };
    expect((await fetch(url, { tls, proxy: '', keepalive: false } as RequestInit)).status).toBe(
      200,
    );
    file('tls.crt', 'rubbish');
    serving.reload();
    expect((await fetch(url, { tls, proxy: '', keepalive: false } as RequestInit)).status).toBe(
      200,
    );
    expect(lines.join('\n')).toContain('keeping the old ones');
    file('tls.key', pair.keyPem);
    file('tls.crt', pair.certPem);
    serving.reload();
  });

  test('a replaced file of authorities counts after a reload', async () => {
    const next = await Authority.create('next-ca');
    const late = await next.issue({ commonName: 'late', groups: ['system:masters'] });
    expect((await ask('/configz', late)).status).toBe(401);
    file('ca.crt', ca.certPem + next.certPem);
    serving.reload();
    expect((await ask('/configz', late)).status).toBe(200);
  });

  test('clients that ask for a name get the certificate of that name', async () => {
    const named = await proxyCa.issue({ commonName: 'named', hosts: ['holdfast.example'] });
    const other = {
      certFile: file('named.crt', named.certPem),
      keyFile: file('named.key', named.keyPem),
      names: [],
    };
    const made = await serve({ ...options, namedCertificates: [other] }, deps());
    const shown = await new Promise<string>((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: made.port, servername: 'holdfast.example', ca: proxyCa.certPem },
        () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        },
      );
      socket.once('error', reject);
    });
    expect(shown).toBe('named');
    await made.close();
  });

  test('without files the certificate is self-signed and kept in --cert-dir', async () => {
    const certDir = join(folder, 'made');
    const made = await serve({ ...options, certFile: '', keyFile: '', certDir }, deps());
    const tls = { ca: await Bun.file(join(certDir, 'kube-controller-manager.crt')).text() };
    const url = `https://127.0.0.1:${made.port}/healthz`;
    expect((await fetch(url, { tls, proxy: '' } as RequestInit)).status).toBe(200);
    await made.close();
  });

  test.each([
    ['certFile', '/nowhere/tls.crt', /^--tls-cert-file: cannot read \/nowhere\/tls\.crt/],
    ['keyFile', '/dev/null', /^--tls-private-key-file: \/dev\/null holds no PEM block/],
    ['clientCaFile', '/nowhere/ca.crt', /^--client-ca-file: cannot read \/nowhere\/ca\.crt/],
  ])('a bad file is named: %s', async (name, path, message) => {
    await expect(serve({ ...options, [name]: path }, deps())).rejects.toThrow(message);
  });

  test('a port can be shared by those that both want it', async () => {
    const first = await serve({ ...options, sharePort: true }, deps());
    const second = await serve({ ...options, sharePort: true, port: first.port }, deps());
    expect(second.port).toBe(first.port);
    await expect(serve({ ...options, port: first.port }, deps())).rejects.toThrow(/^failed to/);
    await Promise.all([first.close(), second.close()]);
  });

  test('a port that is taken is named', async () => {
    await expect(serve({ ...options, port: serving.port }, deps())).rejects.toThrow(
      /^failed to create listener: listen tcp 127\.0\.0\.1:\d+/,
    );
  });
});
