import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { resourceId } from '../api/resource.ts';
import { KNOWN_CONTROLLERS } from '../options/known-controllers.ts';
import { skipsFamily } from '../runtime/own-writes.ts';
import { CONTROLLERS } from './registry.ts';

const names = CONTROLLERS.map(({ name }) => name);

describe('the registry', () => {
  test('has every folder here, by name', () => {
    const folders = readdirSync(import.meta.dir)
      .filter((name) => !name.startsWith('_'))
      .filter((name) => existsSync(join(import.meta.dir, name, 'index.ts')))
      .map((name) => `${name}-controller`);
    expect(names).toEqual(folders.sort());
  });

  test('gives no name or alias twice', () => {
    const all = CONTROLLERS.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(all).size).toBe(all.length);
  });

  test.each(CONTROLLERS.map((definition) => [definition.name, definition] as const))(
    '%s is known to the command line by these traits',
    (name, { aliases, gates, enabledByDefault, watches, follows, writes }) => {
      const known = KNOWN_CONTROLLERS.find((each) => each.name === name);
      expect(known).toMatchObject({ aliases, gates, enabledByDefault, cloud: false });
      expect(new Set(watches.map(resourceId)).size).toBe(watches.length);
      expect(watches.length > 0 || follows !== undefined).toBe(true);
      expect(writes.length).toBeGreaterThan(0);
    },
  );

  test.each([
    ['replicaset', 'ReplicaSet'],
    ['daemonset', 'DaemonSet'],
    ['statefulset', 'StatefulSet'],
    ['job', 'Job'],
  ])('%s-controller counts skipped syncs in a family of its kind', (name, kind) => {
    const definition = CONTROLLERS.find((each) => each.name === `${name}-controller`);
    expect(skipsFamily(`${name}-controller`, definition?.watches[0]?.kind ?? '')).toEqual({
      name: `${name}_controller_stale_sync_skips_total`,
      help: `Total number of ${kind} syncs skipped due to a stale watch cache.`,
    });
  });
});
