/** Opening the store: the state file if it can be used, a database in memory if not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '../api/types/index.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { StorePort } from '../runtime/ports.ts';
import type { Random } from '../runtime/random.ts';
import { helperThread } from './checkpointer.ts';
import { describeError } from './connection.ts';
import { digestKey } from './digest-key.ts';
import { Disk } from './disk.ts';
import type { StartHelper } from './helper.ts';
import { type Inspector, inspectConnection, openInspector } from './inspect.ts';
import { Maintenance } from './maintenance.ts';
import { redactForDisk } from './redact.ts';
import { makePrivateDirectory, networkFileSystem, STATE_FILE } from './state-dir.ts';
import { Store } from './store.ts';

const BOOT_ID_FILE = '/proc/sys/kernel/random/boot_id';

export interface StoreOptions {
  /** State directory; made if it isn't there. */
  readonly dir: string;
  /** Directory that doesn't outlive the boot (tmpfs), for the key of the secrets' digests. */
  readonly runtimeDir?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: Random;
  /** Id of this boot of the machine; read from the kernel if absent, "" if unknown. */
  readonly bootId?: string;
  /** Makes the helper; a thread of its own if absent. */
  readonly startHelper?: StartHelper;
}

export interface OpenedStore {
  readonly store: StorePort;
  /** `redactForDisk` under this machine's key: what may be put into `store.objects`. */
  redact(resource: string, object: KubeObject): KubeObject;
  /** Reads what is on disk, on a connection of its own; what is in memory if there is no disk. */
  inspector(): Inspector;
  /** Resolves once the helper has let go of the file after `store.close()`. Never rejects. */
  readonly gone: Promise<void>;
}

/** Id of this boot of the machine, "" where the kernel doesn't tell. */
export function readBootId(): string {
  try {
    return readFileSync(BOOT_ID_FILE, 'utf8').trim();
  } catch {
    return '';
  }
}

/**
 * Opens the store. Never fails for the disk's sake: `health()` tells how the file was opened and
 * what is wrong with it. Take the process lock before: two processes must not share a directory.
 */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { dir, clock } = options;
  const log = options.log.named('store');
  const key = digestKey(options.runtimeDir, options.random, log);
  const redact = (resource: string, object: KubeObject) => redactForDisk(resource, object, key);
  const maintenance = new Maintenance({
    clock,
    log,
    path: join(dir, STATE_FILE),
    bootId: options.bootId ?? readBootId(),
    startHelper: options.startHelper ?? helperThread,
    makeDirectory: () => {
      makePrivateDirectory(dir, log);
      const network = networkFileSystem(dir);
      if (network === undefined) return;
      throw new Error(`${dir} is on ${network}; the state needs a file system of this machine`);
    },
  });
  const first = await openFirst(maintenance, clock);
  if (first.problem !== '') log.error('Going on without a state file', new Error(first.problem));
  else log.info('The state file is open', { dir, opened: first.opened });
  const store = new Store(
    {
      clock,
      log,
      redact,
      hold: maintenance,
      replaceDisk: (failed, why) => maintenance.replaceDisk(failed, why),
      flushed: () => maintenance.flushed(),
      closed: () => maintenance.closed(),
    },
    first.disk,
    first.opened,
    first.problem,
  );
  maintenance.attend(store, first.checked);
  const inspector = () => {
    const disk = store.disk();
    return disk.isFile ? openInspector(dir) : inspectConnection(disk.client, disk.path);
  };
  return { store, redact, inspector, gone: maintenance.gone };
}

async function openFirst(maintenance: Maintenance, clock: Clock) {
  try {
    return { ...(await maintenance.openFile()), problem: '' };
  } catch (error) {
    const why = describeError(error);
    const disk = Disk.inMemory(clock.now());
    const problem = `no state file, everything is kept in memory: ${why}`;
    return { disk, opened: `in memory: ${why}`, checked: true, problem };
  }
}
