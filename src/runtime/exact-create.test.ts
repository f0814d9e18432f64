import { describe, expect, test } from 'bun:test';
import { ApiError, TransportError } from '../api/errors.ts';
import { ENDPOINT_SLICES } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { GeneratedCreation, SyncClient, SyncRun } from './controller.ts';
import { createExactCreates } from './exact-create.ts';
import { Intents } from './intents.ts';
import type { IntentRow } from './ports.ts';
import { seededRandom } from './random.ts';
import { fakeClock } from './testing/fake-clock.ts';
import { memoryTable } from './testing/memory-table.ts';

const CREATION: GeneratedCreation = {
  resource: ENDPOINT_SLICES,
  namespace: 'ns',
  ownerUid: 'owner',
  slot: 'IPv4 0',
  generateName: 'web-',
  body: { metadata: { labels: { a: '1' } } },
  because: 'there is none',
};
const TAKEN = new ApiError(409, 'taken', { reason: 'AlreadyExists' });

interface Sent {
  readonly name: string;
  readonly generateName: string;
}

/** A server that answers creates with what `answer` gives, and a process that may be followed by others. */
function setUp() {
  const table = memoryTable<IntentRow>((row) => row.id);
  const clock = fakeClock(0);
  const sent: Sent[] = [];
  const committed: number[] = [];
  const stored: KubeObject[] = [];
  let answer: (name: string) => Error | undefined = () => undefined;
  let term = 0;
  const client: Partial<SyncClient> = {
    create: async <T extends KubeObject>(_: unknown, __: unknown, body: object) => {
      const { metadata } = body as KubeObject & { metadata: Sent };
      sent.push({ name: metadata.name, generateName: metadata.generateName });
      committed.push(table.all().length);
      const refused = answer(metadata.name);
      if (refused !== undefined) throw refused;
      return body as T;
    },
    listAll: async <T extends KubeObject>(_: unknown, options: { fieldSelector?: string }) =>
      stored.filter(
        ({ metadata }) => options.fieldSelector === `metadata.name=${metadata.name}`,
      ) as unknown as T[],
  };
  let barriers = 0;
  const run = { client, barrier: () => barriers++ } as unknown as SyncRun;
  return {
    client,
    table,
    sent,
    committed,
    stored,
    barriers: () => barriers,
    answering: (next: typeof answer) => {
      answer = next;
    },
    /** A process of its own, with the intents of the last one. */
    process: () => {
      term++;
      const random = seededRandom(term);
      const newId = () => random.uuid();
      const intents = new Intents({ controller: 'c', table, clock, term, since: 0, newId });
      const creates = createExactCreates({ intents, random });
      return { intents, create: (creation = CREATION) => creates.create(run, creation) };
    },
  };
}

function owned(name: string, uid = 'owner', deletionTimestamp?: string): KubeObject {
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'Service', name: 'web', uid, controller: true },
  ];
  return {
    metadata: {
      name,
      namespace: 'ns',
      uid: name,
      resourceVersion: '1',
      ownerReferences,
      deletionTimestamp,
    },
  };
}

describe('creating with a generated name', () => {
  test('chooses the name, notes it before sending, and is done with an answer', async () => {
    const { sent, committed, barriers, table, process } = setUp();
    const { object, found } = await process().create();
    expect(found).toBe(false);
    expect(object.metadata).toMatchObject({
      namespace: 'ns',
      generateName: 'web-',
      labels: { a: '1' },
    });
    expect(sent[0]?.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(committed).toEqual([1]);
    expect(barriers()).toBe(1);
    expect(table.all()).toEqual([]);
  });

  test.each([
    [422, 0],
    [403, 0],
    [429, 1],
    [500, 1],
  ])('after an answer %d the intent counts %d', async (code, open) => {
    const { table, answering, process } = setUp();
    answering(() => new ApiError(code, 'no'));
    await expect(process().create()).rejects.toThrow('no');
    expect(table.all()).toHaveLength(open);
  });

  test('made by an attempt answered 5xx, and sent again at once, is found', async () => {
    const { answering, stored, process, sent } = setUp();
    answering((name) => {
      stored.push(owned(name));
      const taken = new ApiError(409, 'taken', { reason: 'AlreadyExists' });
      taken.followsServerError = true;
      return taken;
    });
    expect((await process().create()).found).toBe(true);
    expect(sent).toHaveLength(1);
  });

  test('without an answer the next process sends the same name for the same slot only', async () => {
    const { sent, answering, process } = setUp();
    answering(() => new TransportError('reset'));
    await expect(process().create()).rejects.toThrow('reset');
    answering(() => undefined);
    const next = process();
    await next.create({ ...CREATION, slot: 'IPv6 0' });
    await next.create();
    expect(sent[1]?.name).not.toBe(sent[0]?.name as string);
    expect(sent[2]?.name).toBe(sent[0]?.name as string);
  });

  test('the name is taken by what a dead process made: that is it', async () => {
    const { sent, stored, answering, process } = setUp();
    answering(() => new TransportError('reset'));
    await expect(process().create()).rejects.toThrow('reset');
    stored.push(owned(sent[0]?.name ?? ''));
    answering(() => TAKEN);
    const { object, found } = await process().create();
    expect({ found, name: object.metadata.name }).toEqual({
      found: true,
      name: sent[0]?.name ?? '',
    });
    expect(sent).toHaveLength(2);
  });

  test.each([
    ['a stranger', 'other', undefined],
    ['one of ours that is going', 'owner', '2026-01-01T00:00:00Z'],
  ])('the name is taken by %s: another is tried', async (_, uid, deletionTimestamp) => {
    const { sent, stored, table, answering, process } = setUp();
    answering((name) => {
      if (sent.length > 1) return undefined;
      stored.push(owned(name, uid, deletionTimestamp));
      return TAKEN;
    });
    expect((await process().create()).found).toBe(false);
    expect(sent[1]?.name).not.toBe(sent[0]?.name as string);
    expect(table.all()).toEqual([]);
  });

  test.each([
    ['Right', true],
    ['Wrong', false],
  ])('after a lost answer the name is taken by one of ours of kind %s', async (kind, isOurs) => {
    const { sent, stored, table, answering, process } = setUp();
    const creation = { ...CREATION, ofSlot: (object: KubeObject) => object.kind === 'Right' };
    answering(() => new TransportError('reset'));
    await expect(process().create(creation)).rejects.toThrow('reset');
    answering((name) => {
      if (name !== sent[0]?.name) return undefined;
      stored.push({ ...owned(name), kind });
      return TAKEN;
    });
    const { found, object } = await process().create(creation);
    expect(found).toBe(isOurs);
    expect(object.metadata.name === sent[0]?.name).toBe(isOurs);
    expect(table.all()).toEqual([]);
  });

  test('a name that is drawn a second time is another object’s, also if that is ours', async () => {
    const { sent, stored, table, answering, process } = setUp();
    answering((name) => {
      if (sent.length > 1) return undefined;
      stored.push(owned(name));
      return TAKEN;
    });
    const { found, object } = await process().create();
    expect(found).toBe(false);
    expect(object.metadata.name).not.toBe(sent[0]?.name as string);
    expect(table.all()).toEqual([]);
  });

  test('names that are always taken are given up in the end', async () => {
    const { sent, table, answering, process } = setUp();
    answering(() => TAKEN);
    await expect(process().create()).rejects.toThrow('taken');
    expect(new Set(sent.map(({ name }) => name)).size).toBe(sent.length);
    expect(table.all()).toEqual([]);
  });

  test('whose object a name is could not be read: the intent stays open', async () => {
    const { client, table, answering, process } = setUp();
    answering(() => new TransportError('reset'));
    await expect(process().create()).rejects.toThrow('reset');
    answering(() => TAKEN);
    client.listAll = () => Promise.reject(new TransportError('cut'));
    await expect(process().create()).rejects.toThrow('cut');
    expect(table.all()).toHaveLength(1);
  });

  test('an object that is seen ends the intent that made it', async () => {
    const { sent, table, answering, process } = setUp();
    answering(() => new TransportError('reset'));
    await expect(process().create()).rejects.toThrow('reset');
    process().intents.created('endpointslices.discovery.k8s.io', 'ns', sent[0]?.name ?? '');
    expect(table.all()).toEqual([]);
  });
});
