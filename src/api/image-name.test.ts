import { describe, expect, test } from 'bun:test';
import { defaultPullPolicy, imageTag } from './image-name.ts';

const DIGEST = `@sha256:${'0123456789'.repeat(6)}0123`;

describe('the tag of an image, as the reference parses it', () => {
  test.each([
    ['', ''],
    ['web', 'latest'],
    ['web:1', '1'],
    ['web:latest', 'latest'],
    ['a/b', 'latest'],
    ['reg.example:5000/team/web', 'latest'],
    ['reg.example:5000/team/web:v2', 'v2'],
    ['localhost/x', 'latest'],
    [`web${DIGEST}`, ''],
    [`web:1${DIGEST}`, '1'],
    [`web:latest${DIGEST}`, 'latest'],
    ['Web', ''],
    ['reg/Web', ''],
    ['UPPER.example/web', 'latest'],
    ['web:', ''],
    ['web:-1', ''],
    ['web@sha256:abc', ''],
    ['a//b', ''],
    ['a b', ''],
    ['0123456789012345678901234567890123456789012345678901234567890123', ''],
    ['[::1]:5000/x:1', '1'],
    ['a__b/c-d.e_f:T_1.0-x', 'T_1.0-x'],
    ['a..b', ''],
    ['a_-b', ''],
    ['host:port/x', ''],
    ['x:a', 'a'],
    ['web:1:2', ''],
    ['/web', ''],
    ['web/', ''],
    ['a.b:80/c', 'latest'],
    ['a---b', 'latest'],
    ['-a', ''],
    ['a-', ''],
    ['http://x/y', ''],
    ['x@md5:0123456789012345678901234567890123456789', ''],
  ])('%p: %p', (image, tag) => {
    expect(imageTag(image)).toBe(tag);
  });
});

test('only latest is pulled always', () => {
  expect(['web', 'web:latest', 'web:1', `web${DIGEST}`, 'Bad Name'].map(defaultPullPolicy)).toEqual(
    ['Always', 'Always', 'IfNotPresent', 'IfNotPresent', 'IfNotPresent'],
  );
});
