import { afterAll, describe, expect, test } from 'bun:test';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CONTROLLERS } from '../controllers/registry.ts';
import { parseOptions } from '../options/index.ts';
import { type RunConfig, runConfig } from './config.ts';

const dir = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
const TOKENS = 'serviceaccount-token-controller';
const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const key = file('key', pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey));

afterAll(() => rmSync(dir, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

function configOf(...argv: string[]): RunConfig {
  const result = parseOptions(argv, {});
  if (result.kind !== 'options') throw new Error(JSON.stringify(result));
  return runConfig(result.options, CONTROLLERS, {});
}

function startsTokens({ definitions }: RunConfig): boolean {
  return definitions.some(({ name }) => name === TOKENS);
}

describe('the token controller', () => {
  test('runs whatever --controllers says, as soon as it has a key', () => {
    const config = configOf('--controllers=job', `--service-account-private-key-file=${key}`);
    expect(startsTokens(config)).toBe(true);
    expect(config.tokenSigner?.sign({})).toMatch(/^[\w-]+\.e30\.[\w-]+$/);
  });

  test('is skipped without a key', () => {
    const config = configOf('--controllers=job');
    expect(startsTokens(config)).toBe(false);
    expect(config.skipped).toContainEqual({
      name: TOKENS,
      because: 'there is no private key',
      notAvailable: false,
    });
  });

  test.each<[string, string, string]>([
    [
      'is not there',
      join(dir, 'none'),
      `error reading key for service account token controller: open ${join(dir, 'none')}: ` +
        'no such file or directory',
    ],
    [
      'is a folder',
      dir,
      `error reading key for service account token controller: read ${dir}: is a directory`,
    ],
    [
      'holds no key',
      file('text', 'no key'),
      'error reading key for service account token controller: error reading private key file ' +
        `${join(dir, 'text')}: data does not contain a valid RSA or ECDSA private key`,
    ],
    [
      'holds a key that signs no tokens',
      file('ed', pem(generateKeyPairSync('ed25519').privateKey)),
      'failed to build token generator: unknown private key type ed25519.PrivateKey, must be ' +
        '*rsa.PrivateKey, *ecdsa.PrivateKey, or jose.OpaqueSigner',
    ],
  ])('does not start if its key file %s', (_, path, message) => {
    expect(() => configOf(`--service-account-private-key-file=${path}`)).toThrow(message);
  });
});

describe('--root-ca-file', () => {
  test.each<[string, string, string]>([
    ['is not there', join(dir, 'none'), `open ${join(dir, 'none')}: no such file or directory`],
    [
      'holds no certificate',
      file('empty', ''),
      'data does not contain any valid RSA or ECDSA certificates',
    ],
  ])('does not start if it %s', (_, path, message) => {
    const argv = `--root-ca-file=${path}`;
    expect(() => configOf(argv)).toThrow(`error parsing root-ca-file at ${path}: ${message}`);
  });
});
