import { expect, test } from 'bun:test';
import { scrubbed } from './scrub.ts';

test.each([
  ['token eyJhbGciOi.eyJpc3MiOi.c2lnbmF0 was refused', 'token (taken out) was refused'],
  ['Authorization: Bearer abcdefgh.1234', 'Authorization: Bearer (taken out)'],
  ['get https://user:pa55@registry.example/v2/', 'get https://(taken out)@registry.example/v2/'],
  ['--db-password=hunter22 is bad', '--db-password=(taken out) is bad'],
  ['{"apiKey":"abcd1234"}', '{"apiKey":"(taken out)"}'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- x', '(taken out) x'],
])('%j', (text, left) => {
  expect(scrubbed({ deep: [{ text }] })).toEqual({ deep: [{ text: left }] });
});

test('what is no secret stays, to the last digit', () => {
  const data = {
    key: 'default/web-6d5f9c7b8-x2vqk',
    uid: '2b0c1f0e-7a0d-4d7e-9a53-0d1c8a1f5c11',
    error: 'pods "web-" is forbidden: exceeded quota: none, requested: pods=1, used: pods=0',
    queue: 'serviceaccount_tokens_service/secrets',
    because: '1 of 2 pods is missing',
    version: 9223372036854775807n,
    none: null,
    list: [1, true],
  };
  expect(scrubbed(data)).toEqual(data);
});
