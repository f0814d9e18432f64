import { describe, expect, test } from 'bun:test';
import { ApiError, TransportError } from '../api/errors.ts';
import { newerTemplate } from '../api/testing/newer.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { PodCreation, SyncClient, SyncRun } from './controller.ts';
import { Intents } from './intents.ts';
import { createPodControl } from './pod-control.ts';
import type { IntentRow } from './ports.ts';
import { seededRandom } from './random.ts';
import { fakeClock } from './testing/fake-clock.ts';
import { memoryTable } from './testing/memory-table.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-1' };
const SET = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { ...OWNER },
} as unknown as KubeObject;
const POD: PodCreation = {
  namespace: 'default',
  owner: OWNER,
  template: { metadata: { labels: { app: 'web' } } },
  generateName: 'web-',
  slot: 'replica',
  because: 'a test wants it',
};
const TAKEN = new ApiError(409, 'taken', { code: 409, reason: 'AlreadyExists' });
const RESET = new TransportError('the connection was reset');

type Answer = 'created' | Error;

/** A server of pods that answers as told, and a pod control before it. */
class World {
  readonly table = memoryTable<IntentRow>((row) => row.id);
  readonly intents: Intents;
  readonly pods = new Map<string, KubeObject>();
  readonly sent: string[] = [];
  readonly bodies: KubeObject[] = [];
  /** What was announced when each create was sent. */
  readonly announced: string[][] = [];
  answers: Answer[] = [];
  failList: Error | undefined;
  /** Called with each pod as soon as it exists. */
  seen: (name: string) => void = () => undefined;
  /** Called before each answer. */
  answering: (name: string) => void = () => undefined;
  readonly #random = seededRandom(7);
  #committed: string[] = [];
  #ids = 0;

  constructor() {
    const clock = fakeClock(1_000_000);
    const newId = (): string => `i${++this.#ids}`;
    const controller = 'replicaset-controller';
    this.intents = new Intents({ controller, table: this.table, clock, term: 1, since: 1, newId });
  }

  async create(count: number, more: Partial<PodCreation> = {}) {
    const control = createPodControl({
      intents: this.intents,
      events: { event: () => undefined },
      random: this.#random,
      guard: false,
    });
    const pods = Array.from({ length: count }, () => ({ ...POD, ...more }));
    return await control.createPods(this.#run(), SET, 'default/web', pods);
  }

  exists(name: string, controllerUid: string): void {
    const ownerReferences = [{ ...OWNER, uid: controllerUid, controller: true }];
    const metadata = { name, namespace: 'default', uid: `uid-${name}`, ownerReferences };
    this.pods.set(name, { apiVersion: 'v1', kind: 'Pod', metadata } as unknown as KubeObject);
  }

  #run(): SyncRun {
    const client = {
      create: async (_resource: unknown, _at: unknown, body: KubeObject) => this.#post(body),
      listAll: async (_resource: unknown, { fieldSelector = '' }) => {
        if (this.failList !== undefined) throw this.failList;
        const found = this.pods.get(fieldSelector.replace('metadata.name=', ''));
        return found === undefined ? [] : [found];
      },
    } as unknown as SyncClient;
    const barrier = (): void => {
      this.#committed = this.table.all().map(({ name }) => name);
    };
    return { client, barrier } as SyncRun;
  }

  #post(body: KubeObject): KubeObject {
    const { name } = body.metadata;
    this.sent.push(name);
    this.bodies.push(body);
    this.announced.push(this.#committed);
    this.answering(name);
    const answer = this.answers.shift() ?? 'created';
    if (!(answer instanceof ApiError)) {
      this.exists(name, OWNER.uid);
      this.seen(name);
    }
    if (answer instanceof Error) throw answer;
    return this.pods.get(name) as KubeObject;
  }
}

describe('creating pods', () => {
  test('a pod lacks what only a newer API server knows of its template', async () => {
    const world = new World();
    const spec = { containers: [{ name: 'app' }] };
    const template = newerTemplate({ metadata: { labels: { app: 'web' } }, spec });
    await world.create(1, { template });
    expect(world.bodies[0]).toMatchObject({ metadata: { labels: { app: 'web' } } });
    expect(world.bodies[0]).toHaveProperty('spec', spec);
  });

  test('no create is sent before its name is on record', async () => {
    const world = new World();
    expect(await world.create(5)).toMatchObject({ done: 5, notDone: [] });
    world.sent.forEach((name, index) => {
      expect(world.announced[index]).toContain(name);
    });
    expect(world.table.all()).toEqual([]);
  });

  test('one whose answer was lost is not created a second time', async () => {
    const world = new World();
    world.answers = [RESET, TAKEN];
    expect(await world.create(1)).toMatchObject({ done: 0, error: RESET });
    expect(world.table.all()).toHaveLength(1);
    expect(await world.create(1)).toMatchObject({ done: 1, error: undefined });
    expect(new Set(world.sent).size).toBe(1);
    expect(world.table.all()).toEqual([]);
  });

  test('the name of one that was seen is not used again, though its answer was lost', async () => {
    const world = new World();
    world.seen = (name) => world.intents.created('pods', 'default', name);
    world.answers = [RESET];
    await world.create(1);
    expect(world.table.all()).toEqual([]);
    await world.create(1);
    expect(new Set(world.sent).size).toBe(2);
  });

  test('one that the informer sees while it is sent again is not created a second time', async () => {
    const world = new World();
    world.answers = [RESET, TAKEN];
    await world.create(1);
    world.answering = (name) => world.intents.created('pods', 'default', name);
    expect(await world.create(1)).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(1);
  });

  test.each([403, 422])('a refusal %d says nothing of the attempt before it', async (code) => {
    const world = new World();
    world.answers = [RESET, new ApiError(code, 'no'), TAKEN];
    await world.create(1);
    await world.create(1);
    expect(world.table.all()).toHaveLength(1);
    expect(await world.create(1)).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(1);
  });

  test('what slow start did not send again stays announced', async () => {
    const world = new World();
    world.answers = ['created', RESET, RESET, RESET];
    await world.create(3);
    const lost = world.table.all().map(({ name }) => name);
    expect(lost).toHaveLength(2);
    await world.create(2);
    world.answers = [TAKEN, TAKEN];
    expect(await world.create(2)).toMatchObject({ done: 2 });
    expect(new Set(world.sent).size).toBe(3);
    expect(world.table.all()).toEqual([]);
  });

  test('one that was made by an attempt answered 5xx, and sent again at once, is ours', async () => {
    const world = new World();
    const taken = new ApiError(409, 'taken', { code: 409, reason: 'AlreadyExists' });
    taken.followsServerError = true;
    world.answers = [taken];
    world.answering = (name) => world.exists(name, OWNER.uid);
    expect(await world.create(1)).toMatchObject({ done: 1 });
    expect(world.sent).toHaveLength(1);
  });

  test('a name that a stranger has is given up for another one', async () => {
    const world = new World();
    world.answers = [TAKEN, 'created'];
    expect(await world.create(1)).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(2);
    expect(world.table.all()).toEqual([]);
  });

  test('a name that a sibling of the same slot has is given up for another one', async () => {
    // It draws the same names.
    const twin = new World();
    await twin.create(1);
    const world = new World();
    world.exists(twin.sent[0] as string, OWNER.uid);
    world.answers = [TAKEN, 'created'];
    expect(await world.create(1, { ofSlot: () => true })).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(2);
    expect(world.table.all()).toEqual([]);
  });

  test('the name of one that was made for something else is given up for another one', async () => {
    const world = new World();
    world.answers = [RESET, TAKEN, 'created'];
    await world.create(1);
    expect(await world.create(1, { ofSlot: () => false })).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(2);
    expect(world.table.all()).toEqual([]);
  });

  test('one that was made for the same slot is taken, though its answer was lost', async () => {
    const world = new World();
    world.answers = [RESET, TAKEN];
    await world.create(1);
    const asked: string[] = [];
    const ofSlot: PodCreation['ofSlot'] = ({ metadata }) => asked.push(metadata.name) > 0;
    expect(await world.create(1, { ofSlot })).toMatchObject({ done: 1 });
    expect(asked).toEqual([world.sent[0] as string]);
    expect(new Set(world.sent).size).toBe(1);
  });

  test('who has the name can not be told: it stays announced, and is asked for again', async () => {
    const world = new World();
    world.answers = [RESET, TAKEN, TAKEN];
    await world.create(1);
    world.failList = RESET;
    expect(await world.create(1)).toMatchObject({ done: 0, error: RESET });
    world.failList = undefined;
    expect(await world.create(1)).toMatchObject({ done: 1 });
    expect(new Set(world.sent).size).toBe(1);
  });

  test('what slow start never sent is no longer announced', async () => {
    const world = new World();
    const refusal = new ApiError(403, 'exceeded quota', { code: 403, reason: 'Forbidden' });
    world.answers = [refusal];
    expect(await world.create(10)).toMatchObject({ done: 0, failed: 1, error: refusal });
    expect(world.sent).toHaveLength(1);
    expect(world.table.all()).toEqual([]);
  });

  test('the refusal of a namespace that is going counts as done, is told, and stops nothing', async () => {
    const world = new World();
    const causes = [{ reason: 'NamespaceTerminating' }];
    const refusal = new ApiError(403, 'going', { reason: 'Forbidden', details: { causes } });
    world.answers = [refusal, refusal];
    expect(await world.create(3)).toMatchObject({ done: 3, refused: 2, terminating: refusal });
    expect(world.sent).toHaveLength(3);
    expect(await world.create(1)).toMatchObject({ done: 1, refused: 0 });
  });
});
