/** What happens to the machine: a disk that is full, read-only, damaged or read for too long; deaths. */
import { Database } from 'bun:sqlite';
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawMoment } from '../crash/killer.ts';
import { eventually } from '../rig/index.ts';
import { between, LEASE_LOST_MS, lasting, type Scene, type Trouble } from './stand.ts';

const PAGE_BYTES = 4096;
const GARBAGE = 0xa5;
/** How long it takes at most until the writer lets an outsider lock the file. */
const LOCK_WAIT_MS = 2_000;

function fileOf({ line }: Scene): string {
  return join(line.current.stateDir, 'state.db');
}

/**
 * Kills the process. What it remembers of requests under way may not survive what happens to the
 * disk next, and nobody could then tell a late one from a new one: they are waited for.
 */
async function die(scene: Scene): Promise<void> {
  await scene.line.kill(drawMoment(scene.random));
  await eventually(() => scene.proxy.underWay === 0, { everyMs: 10, describe: 'no late request' });
}

function overwrite(path: string, from: number, bytes: number): void {
  const content = readFileSync(path);
  content.fill(GARBAGE, Math.min(from, content.length), Math.min(from + bytes, content.length));
  writeFileSync(path, content);
}

/** Everything is in the file itself, so that what is done to it matters. */
function foldIn(path: string): void {
  const client = new Database(path);
  try {
    client.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // It was damaged before, and its process died before it had noticed.
  } finally {
    client.close();
  }
}

/** A state file in the hands of a dead process, and something that is done to it. */
function damaged(damage: (scene: Scene, path: string) => void): Trouble {
  return async (scene) => {
    await die(scene);
    const path = fileOf(scene);
    if (existsSync(path)) {
      foldIn(path);
      damage(scene, path);
    }
    await scene.line.restart();
    await lasting(scene, 0, 1_500);
  };
}

/** Another process uses the file. */
function shared(use: (other: Database) => void): Trouble {
  return async (scene) => {
    const path = fileOf(scene);
    if (!existsSync(path)) return;
    const other = new Database(path, { readwrite: true, create: false });
    try {
      other.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
      use(other);
      await lasting(scene, 1_000, 5_000);
    } finally {
      other.close();
    }
  };
}

/** Without a file system of our own. */
export const PROCESS_TROUBLES: Readonly<Record<string, Trouble>> = {
  'kill -9': async (scene) => {
    await scene.line.kill(drawMoment(scene.random));
    await scene.line.restart();
  },
  'frozen longer than the Lease': (scene) =>
    scene.line.freeze(between(scene.random, LEASE_LOST_MS, LEASE_LOST_MS + 3_000)),
  'API server restarted': ({ cluster }) => cluster.restartApiServer(),
  'etcd restarted': async ({ cluster }) => {
    await cluster.restartEtcd();
    await cluster.restartApiServer();
  },
  'state file gone': damaged((_, path) => {
    for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true });
  }),
  'state file is something else': damaged((_, path) =>
    writeFileSync(path, 'this is no database\n'.repeat(500)),
  ),
  'first page destroyed': damaged((_, path) => overwrite(path, 16, PAGE_BYTES)),
  'pages destroyed': damaged(({ random }, path) => {
    const pages = Math.floor(readFileSync(path).length / PAGE_BYTES);
    overwrite(path, PAGE_BYTES * between(random, 1, pages), PAGE_BYTES * between(random, 1, pages));
  }),
  'state file cut off': damaged(({ random }, path) => {
    const pages = Math.floor(readFileSync(path).length / PAGE_BYTES);
    truncateSync(path, PAGE_BYTES * between(random, 0, pages));
  }),
  'state file of a newer version': damaged((_, path) => {
    const other = new Database(path);
    other.run("INSERT INTO migrations VALUES ('9999_from_the_future', 'hash', 0)");
    other.close();
  }),
  'a reader that never ends': shared((other) => {
    other.run('BEGIN');
    other.query('SELECT count(*) FROM objects').get();
  }),
  'another writer': shared((other) => other.run('BEGIN IMMEDIATE')),
};

/** On a small disk of its own. */
export const DISK_TROUBLES: Readonly<Record<string, Trouble>> = {
  'disk full': async (scene) => {
    scene.disk?.fill();
    await lasting(scene, 500, 5_000);
    scene.disk?.empty();
  },
  'killed on a full disk': async (scene) => {
    scene.disk?.fill();
    await lasting(scene, 200, 2_000);
    await die(scene);
    await scene.line.restart();
    await lasting(scene, 200, 3_000);
    scene.disk?.empty();
  },
  'killed when the disk is free again': async (scene) => {
    scene.disk?.fill();
    await lasting(scene, 200, 2_000);
    scene.disk?.empty();
    await die(scene);
    await scene.line.restart();
  },
  'started on a read-only disk': async (scene) => {
    await die(scene);
    scene.disk?.readOnly();
    await scene.line.restart();
    await lasting(scene, 1_000, 4_000);
    scene.disk?.writable();
  },
};
