import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { seededRandom } from '../runtime/random.ts';
import { digestKey } from './digest-key.ts';
import { redactForDisk } from './index.ts';
import {
  cleanUp,
  collectingLogger,
  openTestStore,
  SLOW_TEST_MS,
  temporaryDirectory,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

const KEY = new Uint8Array(32).fill(7);
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function secret(data: Record<string, string>, annotations: Record<string, string> = {}) {
  return {
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: 's',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      annotations,
      managedFields: [{ manager: 'kubectl' }],
    },
    data,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('what goes to disk', () => {
  test('has no managedFields and is otherwise as it was', () => {
    const metadata = {
      name: 'p',
      uid: 'u',
      resourceVersion: '1',
      annotations: { [LAST_APPLIED]: '{}' },
    };
    const pod = { metadata: { ...metadata, managedFields: [{ manager: 'm' }] }, spec: { a: 1 } };
    expect(redactForDisk('pods', pod, KEY)).toEqual({ metadata, spec: { a: 1 } } as typeof pod);
    const lean = { metadata, spec: { a: 1 } };
    expect(redactForDisk('pods', lean, KEY)).toBe(lean);
  });

  test('of a Secret has the names of its keys and a digest, and no copy of it', () => {
    const password = base64('a long password');
    const annotations = {
      [LAST_APPLIED]: `{"data":{"password":"${password}"}}`,
      'objectset.rio.cattle.io/applied': 'H4sIAAAA',
      'example.com/copy': `password=${password}`,
      'kubernetes.io/service-account.name': 'default',
    };
    const object = secret({ password, namespace: base64('default') }, annotations);
    expect(redactForDisk('secrets', object, KEY)).toEqual({
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        name: 's',
        namespace: 'default',
        uid: 'u',
        resourceVersion: '1',
        annotations: { 'kubernetes.io/service-account.name': 'default' },
      },
      dataKeys: ['namespace', 'password'],
      dataDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    } as never);
  });

  test('of a Secret changes its digest with data and key, and with nothing else', () => {
    const entries = fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
    const digest = (data: Record<string, string>, key = KEY, note = ''): unknown =>
      (redactForDisk('secrets', secret(data, { note }), key) as { dataDigest?: string }).dataDigest;
    fc.assert(
      fc.property(entries, entries, fc.string(), (one, two, note) => {
        const reversed = Object.fromEntries(Object.entries(one).reverse());
        expect(digest(reversed, KEY, note)).toBe(digest(one));
        const same =
          JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(two).sort());
        expect(digest(one) === digest(two)).toBe(same);
        expect(digest(one, new Uint8Array(32))).not.toBe(digest(one));
      }),
    );
  });

  test('of a Secret stays as it is when redacted again', () => {
    const once = redactForDisk('secrets', secret({ a: base64('value of a') }), KEY);
    expect(redactForDisk('secrets', once, KEY)).toEqual(once);
  });
});

describe('the files', () => {
  test('never hold the data of a Secret, even if somebody forgot to redact it', async () => {
    const dir = temporaryDirectory();
    const { store, redact, shut } = await openTestStore(dir);
    const values = ['correct horse battery staple', 'the second value of it'].map(base64);
    const object = secret({ a: values[0] ?? '' }, { [LAST_APPLIED]: `{"a":"${values[0]}"}` });
    const row = { resource: 'secrets', key: 'default/s', uid: 'u', resourceVersion: '1' };
    store.objects.put({ ...row, json: JSON.stringify(object) });
    store.commit();
    const other = redact('secrets', { ...object, ...secret({ b: values[1] ?? '' }) });
    store.objects.put({ ...row, key: 'default/t', json: JSON.stringify(other) });
    store.commit();
    const stored = JSON.parse(store.objects.get('secrets', 'default/s')?.json ?? '');
    expect(stored).toMatchObject({ dataKeys: ['a'], metadata: { annotations: {} } });
    const bytes = (): string =>
      readdirSync(dir)
        .map((name) => readFileSync(join(dir, name), 'latin1'))
        .join('');
    const open = bytes();
    await shut();
    for (const content of [open, bytes()]) {
      expect(content).toContain('dataDigest');
      for (const value of values) {
        expect(content).not.toContain(value);
        expect(content).not.toContain(Buffer.from(value, 'base64').toString());
      }
    }
  });

  test('are private to their owner', async () => {
    const dir = join(temporaryDirectory(), 'new', 'state');
    const { store, shut } = await openTestStore(dir);
    store.facts.set('a', 'b');
    store.commit();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    await shut();
  });
});

describe('the key of the digests', () => {
  test('lasts as long as the runtime directory, and is private', () => {
    const log = collectingLogger();
    const dir = join(temporaryDirectory(), 'run');
    const first = digestKey(dir, seededRandom(1), log);
    expect(digestKey(dir, seededRandom(2), log)).toEqual(first);
    expect(statSync(join(dir, 'digest.key')).mode & 0o777).toBe(0o600);
    expect(digestKey(undefined, seededRandom(2), log)).not.toEqual(first);
    expect(log.lines).toEqual([]);
    expect(digestKey('/dev/null/run', seededRandom(3), log)).toHaveLength(32);
    expect(log.lines).toHaveLength(1);
  });
});
