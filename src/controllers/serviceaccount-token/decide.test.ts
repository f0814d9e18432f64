import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Secret, ServiceAccount } from '../../api/types/index.ts';
import { claimsOf, decide, filled } from './decide.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const encode = (text: string): string => Buffer.from(text).toString('base64');
const RIGHT = { token: encode('t'), namespace: encode('team'), 'ca.crt': encode(PEM) };
const ACCOUNT: ServiceAccount = {
  metadata: { name: 'robot', namespace: 'team', uid: 'uid-robot', resourceVersion: '1' },
};

function secret(data?: Record<string, string>, annotations?: Record<string, string>): Secret {
  const metadata = { name: 'key', namespace: 'team', uid: 'uid-key', resourceVersion: '7' };
  return { metadata: { ...metadata, annotations }, data, type: 'kubernetes.io/x' };
}

describe('what a Secret lacks', () => {
  test.each<[string, Record<string, string> | undefined, string | undefined]>([
    ['nothing', RIGHT, undefined],
    ['nothing, with more beside it', { ...RIGHT, own: 'AA==' }, undefined],
    ['nothing: another namespace may stand there', { ...RIGHT, namespace: encode('x') }, undefined],
    ['everything', undefined, 'it has no token and no namespace, it has no ca.crt'],
    ['the token', { ...RIGHT, token: '' }, 'it has no token'],
    ['the namespace', { ...RIGHT, namespace: '' }, 'it has no namespace'],
    ['the bundle', { ...RIGHT, 'ca.crt': '' }, 'it has no ca.crt'],
    ['the right bundle', { ...RIGHT, 'ca.crt': encode('x') }, "its ca.crt is not the cluster's"],
  ])('%s', (_, data, because) => {
    expect(decide(secret(data), PEM)?.because).toBe(because as string);
  });

  test('is no bundle if there is none', () => {
    const { 'ca.crt': _, ...rest } = RIGHT;
    expect(decide(secret(rest), '')).toBeUndefined();
    expect(decide(secret({ ...rest, 'ca.crt': 'AA==' }), '')).toBeUndefined();
    expect(decide(secret(), '')?.data).toEqual({ namespace: encode('team') });
  });
});

test('a token says who, and in which Secret it stands, and nothing of time', () => {
  expect(claimsOf(ACCOUNT, secret())).toEqual({
    iss: 'kubernetes/serviceaccount',
    sub: 'system:serviceaccount:team:robot',
    'kubernetes.io/serviceaccount/namespace': 'team',
    'kubernetes.io/serviceaccount/secret.name': 'key',
    'kubernetes.io/serviceaccount/service-account.name': 'robot',
    'kubernetes.io/serviceaccount/service-account.uid': 'uid-robot',
  });
});

const value = fc.option(fc.constantFrom('', 'AA==', ...Object.values(RIGHT)), { nil: undefined });
const data = fc
  .record({ token: value, namespace: value, 'ca.crt': value, own: value })
  .map((all) => JSON.parse(JSON.stringify(all)) as Record<string, string>);

describe('whatever a Secret holds', () => {
  test('filled once it lacks nothing; a token that is there and foreign keys stay', () => {
    fc.assert(
      fc.property(data, fc.constantFrom(PEM, ''), (has, bundle) => {
        const before = secret(has, { team: 'a' });
        const filling = decide(before, bundle);
        if (filling === undefined) return;
        const after = filled(before, ACCOUNT, filling, 'made');
        expect(decide(after, bundle)).toBeUndefined();
        expect(after.data?.token).toBe(has.token || encode('made'));
        expect(after.data?.own).toBe(has.own as string);
        expect(after.metadata).toEqual({
          ...before.metadata,
          annotations: {
            team: 'a',
            'kubernetes.io/service-account.name': 'robot',
            'kubernetes.io/service-account.uid': 'uid-robot',
          },
        });
      }),
    );
  });
});
