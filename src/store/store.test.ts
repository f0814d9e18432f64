import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync } from 'node:fs';
import fc from 'fast-check';
import {
  BATCH_DELAY_MS,
  BATCH_ROWS_MAX,
  HOUSEKEEPING_INTERVAL_MS,
  JOURNAL_AGE_MAX_MS,
  JOURNAL_ROWS_MAX,
  JOURNAL_TRIM_ROWS,
} from '../runtime/limits.ts';
import type { ObjectRow, ResumePoint, WorkRow } from '../runtime/ports.ts';
import {
  cleanUp,
  headsOf,
  intentRow,
  journalRow,
  objectRow,
  openTestStore,
  SLOW_TEST_MS,
  START,
  type TestStore,
  temporaryDirectory,
  workRow,
} from './testing/kit.ts';

setDefaultTimeout(SLOW_TEST_MS);
afterAll(cleanUp);

/** What the store should hold, in plain maps. */
class Model {
  readonly objects = new Map<string, Map<string, ObjectRow>>();
  readonly points = new Map<string, ResumePoint>();
  readonly work = new Map<string, WorkRow>();
  readonly facts = new Map<string, string>();

  of(resource: string): Map<string, ObjectRow> {
    const found = this.objects.get(resource) ?? new Map<string, ObjectRow>();
    this.objects.set(resource, found);
    return found;
  }
}

const RESOURCES = ['pods', 'deployments.apps'];
const KEYS = ['a/x', 'a/y', 'b/x', 'b/\uffff', 'b/\u{10000}', 'cluster'];

type Step =
  | {
      readonly do: 'put' | 'delete';
      readonly resource: string;
      readonly key: string;
      version: number;
    }
  | { readonly do: 'point' | 'drop'; readonly resource: string; readonly version: number }
  | { readonly do: 'work' | 'done'; readonly key: string; readonly version: number }
  | { readonly do: 'fact'; readonly version: number }
  | { readonly do: 'commit' | 'wait' | 'reopen' | 'crash' | 'clear' | 'checkpoint' };

const version = fc.integer({ min: 1, max: 99 });
const resource = fc.constantFrom(...RESOURCES);
const key = fc.constantFrom(...KEYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), resource, key, version }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('delete' as const), resource, key, version }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('point' as const), resource, version }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), resource, version }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('work', 'done'), key, version }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fact' as const), version }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('commit', 'wait', 'reopen', 'crash', 'clear', 'checkpoint'),
    }),
  },
);

function change({ store }: TestStore, model: Model, step: Step): void {
  switch (step.do) {
    case 'put': {
      const row = objectRow(step.resource, step.key, String(step.version));
      store.objects.put(row);
      model.of(step.resource).set(step.key, row);
      return;
    }
    case 'delete':
      store.objects.delete(step.resource, step.key);
      model.of(step.resource).delete(step.key);
      return;
    case 'point': {
      const point = {
        resource: step.resource,
        resourceVersion: String(step.version),
        observedAt: START + step.version,
      };
      store.objects.setResumePoint(point);
      model.points.set(step.resource, point);
      return;
    }
    case 'drop':
      store.objects.drop(step.resource);
      model.of(step.resource).clear();
      model.points.delete(step.resource);
      return;
    case 'work': {
      const row = workRow('queue', step.key, { failures: step.version });
      store.work.put(row);
      model.work.set(step.key, row);
      return;
    }
    case 'done':
      store.work.delete(workRow('queue', step.key));
      model.work.delete(step.key);
      return;
    case 'clear':
      store.work.clear();
      model.work.clear();
      return;
    case 'fact':
      store.facts.set('fact', String(step.version));
      model.facts.set('fact', String(step.version));
  }
}

function inKeyOrder<V>(map: ReadonlyMap<string, V>): V[] {
  return [...map]
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([, value]) => value);
}

function expectSame({ store }: TestStore, model: Model): void {
  for (const resource of RESOURCES) {
    const rows = inKeyOrder(model.of(resource));
    expect([...store.objects.scan(resource)]).toEqual(rows);
    expect(headsOf(store, resource)).toEqual(
      rows.map((row) => `${row.key}@${row.resourceVersion}`),
    );
    for (const key of KEYS) {
      expect(store.objects.get(resource, key)).toEqual(model.of(resource).get(key));
    }
    expect(store.objects.resumePoint(resource)).toEqual(model.points.get(resource));
  }
  expect(store.work.all()).toEqual(inKeyOrder(model.work));
  expect(store.facts.get('fact')).toEqual(model.facts.get('fact'));
}

describe('the store', () => {
  test('holds what a map would hold, through commits, checkpoints, restarts and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        let dir = temporaryDirectory();
        let opened = await openTestStore(dir);
        let model = new Model();
        let committed = structuredClone({ ...model });
        const remember = (): void => {
          committed = structuredClone({ ...model });
        };
        for (const step of steps) {
          if (step.do === 'commit') {
            expect(opened.store.commit()).toBe(true);
            remember();
          } else if (step.do === 'wait' || step.do === 'checkpoint') {
            await opened.clock.advance(step.do === 'wait' ? BATCH_DELAY_MS : 60_000);
            remember();
          } else if (step.do === 'reopen') {
            await opened.shut();
            remember();
            opened = await openTestStore(dir);
            expect(opened.store.health().opened).toBe('resumed');
          } else if (step.do === 'crash') {
            const copy = temporaryDirectory();
            cpSync(dir, copy, { recursive: true });
            await opened.shut();
            dir = copy;
            model = Object.assign(new Model(), structuredClone(committed));
            opened = await openTestStore(dir);
          } else {
            change(opened, model, step);
          }
          expectSame(opened, model);
        }
        await opened.shut();
      }),
      { numRuns: 80 },
    );
  });

  test('writes nothing for a row that came and went within one batch', async () => {
    const opened = await openTestStore(temporaryDirectory());
    opened.store.intents.put(intentRow('1'));
    opened.store.objects.put(objectRow('pods', 'default/a'));
    opened.store.intents.delete(intentRow('1'));
    opened.store.objects.delete('pods', 'default/a');
    expect(opened.store.health().pendingRows).toBe(0);
    expect(opened.store.commit()).toBe(true);
    expect(opened.store.health().commits).toBe(0);
    await opened.shut();
  });

  test('commits a batch soon after its first change, and earlier when it is long', async () => {
    const { store, clock, shut } = await openTestStore(temporaryDirectory());
    store.objects.put(objectRow('pods', 'default/a'));
    await clock.advance(BATCH_DELAY_MS / 2);
    store.objects.put(objectRow('pods', 'default/b'));
    expect(store.health()).toMatchObject({ commits: 0, pendingRows: 2 });
    await clock.advance(BATCH_DELAY_MS / 2);
    expect(store.health()).toMatchObject({ commits: 1, pendingRows: 0 });
    for (let i = 0; i < BATCH_ROWS_MAX; i++) store.work.put(workRow('queue', `key-${i}`));
    await clock.advance(0);
    expect(store.health()).toMatchObject({ commits: 2, pendingRows: 0 });
    await shut();
  });

  test('takes along with a commit what is not worth one of its own', async () => {
    const { store, shut } = await openTestStore(temporaryDirectory());
    const point = { resource: 'pods', resourceVersion: '7', observedAt: START };
    store.beforeCommit(() => store.objects.setResumePoint(point));
    expect(store.commit()).toBe(true);
    expect(store.objects.resumePoint('pods')).toBeUndefined();
    store.work.put(workRow('queue', 'key'));
    expect(store.commit()).toBe(true);
    expect(store.health()).toMatchObject({ commits: 1, pendingRows: 0 });
    expect(store.objects.resumePoint('pods')).toEqual(point);
    await shut();
  });

  test('forgets a cluster but neither facts nor the journal', async () => {
    const dir = temporaryDirectory();
    const first = await openTestStore(dir);
    first.store.objects.put(objectRow('pods', 'default/a'));
    first.store.objects.setResumePoint({
      resource: 'pods',
      resourceVersion: '1',
      observedAt: START,
    });
    first.store.work.put(workRow('queue', 'default/a'));
    first.store.intents.put(intentRow('1'));
    first.store.facts.set('cluster.identity', 'old');
    first.store.commit();
    first.store.forgetCluster('another one answers');
    first.store.objects.put(objectRow('pods', 'default/b'));
    expect(headsOf(first.store, 'pods')).toEqual(['default/b@1']);
    await first.shut();

    const { store, inspector, shut } = await openTestStore(dir);
    expect(headsOf(store, 'pods')).toEqual(['default/b@1']);
    expect(store.objects.resumePoint('pods')).toBeUndefined();
    expect([store.work.all(), store.intents.all()]).toEqual([[], []]);
    expect(store.facts.get('cluster.identity')).toBe('old');
    const inspect = inspector();
    expect(inspect.journal().map((entry) => entry.because)).toEqual([
      'forgot everything about the cluster: another one answers',
    ]);
    inspect.close();
    await shut();
  });

  test('keeps the journal within its rows and its age', async () => {
    const { store, clock, inspector, shut } = await openTestStore(temporaryDirectory());
    for (let i = 0; i < JOURNAL_ROWS_MAX + 50; i++) {
      store.journal(journalRow(`key-${i}`, { startedAt: clock.now() }));
      if (i % 500 === 0) store.commit();
    }
    store.commit();
    const inspect = inspector();
    const rows = () => inspect.stats().tables.find((table) => table.table === 'journal')?.rows;
    expect(rows()).toBeLessThanOrEqual(JOURNAL_ROWS_MAX);
    expect(rows()).toBeGreaterThanOrEqual(JOURNAL_ROWS_MAX - JOURNAL_TRIM_ROWS);
    expect(inspect.journal({ limit: 1 })[0]?.key).toBe(`key-${JOURNAL_ROWS_MAX + 49}`);

    await clock.advance(JOURNAL_AGE_MAX_MS / 2);
    store.journal(journalRow('young', { startedAt: clock.now() }));
    await clock.advance(JOURNAL_AGE_MAX_MS / 2 + HOUSEKEEPING_INTERVAL_MS);
    expect(inspect.journal().map((entry) => entry.key)).toEqual(['young']);
    inspect.close();
    await shut();
  });

  test('gives the space of what was deleted back to the file system', async () => {
    const { store, clock, shut } = await openTestStore(temporaryDirectory());
    for (let i = 0; i < 2000; i++) {
      store.objects.put(objectRow('pods', `default/p${i}`, '1', { pad: 'x'.repeat(3000) }));
    }
    store.commit();
    await clock.advance(60_000);
    const before = store.health().databaseBytes;
    store.objects.drop('pods');
    store.commit();
    await clock.advance(HOUSEKEEPING_INTERVAL_MS + 120_000);
    expect(before).toBeGreaterThan(6_000_000);
    expect(store.health().databaseBytes).toBeLessThan(before / 2);
    expect(store.health().walBytes).toBeLessThan(1024 * 1024);
    await shut();
  });

  test('refuses what must never be stored and rows that lack a value', async () => {
    const { store, shut } = await openTestStore(temporaryDirectory());
    for (const resource of ['events', 'events.events.k8s.io', 'leases.coordination.k8s.io']) {
      expect(() => store.objects.put(objectRow(resource, 'default/a'))).toThrow(
        'must not be stored',
      );
    }
    const incomplete = { ...workRow('queue', 'key'), dueAt: Number.NaN };
    expect(() => store.work.put(incomplete)).toThrow('a row for work has no dueAt');
    expect(() => store.objects.put({ ...objectRow('pods', 'a'), uid: undefined as never })).toThrow(
      'a row for objects has no uid',
    );
    expect(store.health().pendingRows).toBe(0);
    await shut();
  });
});
