/**
 * What the framework asks of the store, as ports. `store/` implements them over SQLite; tests and
 * simulations may bring others.
 *
 * Writing is a batch in memory: rows put or deleted here are visible at once to reads through the
 * same port, reach the disk in one transaction on a timer, on size, or at `commit`, and stay in
 * memory until their COMMIT has succeeded.
 */

/** One cached object. */
export interface ObjectRow {
  /** resourceId of its resource, e.g. "deployments.apps". */
  readonly resource: string;
  /** "namespace/name" or "name". */
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** JSON text, managedFields dropped. */
  readonly json: string;
}

export interface ObjectHead {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Where a resource's watch can go on. Absent: never synced; present with no objects: empty. */
export interface ResumePoint {
  readonly resource: string;
  readonly resourceVersion: string;
  /** Wall time of the last event or bookmark, milliseconds. */
  readonly observedAt: number;
}

export interface ObjectRows {
  put(row: ObjectRow): void;
  delete(resource: string, key: string): void;
  get(resource: string, key: string): ObjectRow | undefined;
  /** Every row of a resource, one by one, in key order. Rows may not be written meanwhile. */
  scan(resource: string): Iterable<ObjectRow>;
  heads(resource: string): Iterable<ObjectHead>;
  resumePoint(resource: string): ResumePoint | undefined;
  /**
   * In the same commit as the rows put before it. Ignored for a torn resource that has not been
   * dropped since it was torn: the point would be ahead of the rows.
   */
  setResumePoint(point: ResumePoint): void;
  /** Forgets a resource: rows and resume point. Of a torn one, this begins the list that mends it. */
  drop(resource: string): void;
  /**
   * True while rows of this resource may be missing because the disk failed past the bound. It ends
   * when a resume point set after a `drop` has been committed.
   */
  torn(resource: string): boolean;
}

/** An announced create or delete whose outcome isn't known yet. */
export interface IntentRow {
  readonly id: string;
  readonly controller: string;
  readonly verb: 'create' | 'delete';
  readonly ownerUid: string;
  /** What the object is for: template hash, index, node; "" for deletions. */
  readonly slot: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** Victim's UID of a deletion, "" for creates. */
  readonly uid: string;
  readonly term: number;
  /** Wall time of the last sending, milliseconds. */
  readonly sentAt: number;
}

export interface ExpectationRow {
  readonly controller: string;
  readonly key: string;
  readonly ownerUid: string;
  readonly adds: number;
  readonly deletes: number;
  /** Keys of the pods whose deletion is awaited (UID-tracked controllers). */
  readonly deleteKeys: readonly string[];
  readonly term: number;
  readonly setAt: number;
}

/** Versions our own writes produced, per owner and resource: caches must reach them first. */
export interface OwnWriteRow {
  readonly controller: string;
  readonly ownerKey: string;
  readonly ownerUid: string;
  readonly resource: string;
  readonly resourceVersion: string;
  readonly term: number;
}

/** One queue item that is dirty, failing or waiting. */
export interface WorkRow {
  readonly queue: string;
  readonly key: string;
  readonly failures: number;
  /** Wall time when it is due again; 0 = now. */
  readonly dueAt: number;
  readonly dirty: boolean;
  readonly lastError: string;
  readonly because: string;
  readonly term: number;
  readonly updatedAt: number;
}

export interface MemoryRow {
  readonly controller: string;
  readonly key: string;
  /** UID of the object it is about; another UID at reading time drops the row. */
  readonly subjectUid: string;
  readonly value: string;
  readonly term: number;
  readonly expiresAt: number;
  readonly updatedAt: number;
}

/** One write that a reconcile made. */
export interface JournalWrite {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly because: string;
  /** "ok" or the error in short. */
  readonly outcome: string;
}

export interface JournalRow {
  readonly controller: string;
  readonly key: string;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly outcome: 'ok' | 'error' | 'requeue' | 'fenced';
  readonly error: string;
  readonly because: string;
  readonly writes: readonly JournalWrite[];
}

/** A small keyed table: rows are replaced whole. */
export interface RowTable<Row> {
  put(row: Row): void;
  delete(row: Row): void;
  all(): Row[];
  clear(): void;
}

/** What the process knows about itself and the cluster; short texts by name. */
export interface FactTable {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  delete(name: string): void;
}

export interface StoreHealth {
  /** "" when well, else what is wrong with the disk. */
  readonly problem: string;
  /** How this file was opened: "resumed", "created", "set aside: <why>", "emptied: <why>". */
  readonly opened: string;
  readonly databaseBytes: number;
  readonly walBytes: number;
  readonly pendingRows: number;
  readonly pendingBytes: number;
  readonly commits: number;
  readonly commitErrors: number;
  readonly bytesWritten: number;
  readonly bytesLastHour: number;
  readonly commitsLastHour: number;
  readonly tornResources: readonly string[];
}

export interface StorePort {
  readonly objects: ObjectRows;
  readonly intents: RowTable<IntentRow>;
  readonly expectations: RowTable<ExpectationRow>;
  readonly ownWrites: RowTable<OwnWriteRow>;
  readonly work: RowTable<WorkRow>;
  readonly memory: RowTable<MemoryRow>;
  readonly facts: FactTable;
  journal(row: JournalRow): void;
  /**
   * Calls `hook` just before a batch that has something in it is written, so that progress that is
   * not worth a commit of its own (bookmarks) can travel along.
   */
  beforeCommit(hook: () => void): void;
  /**
   * Commit barrier: everything put so far is in the file when this returns true. False: a crash now
   * would forget some of it (the disk is failing, or there is no file); no reason not to go on.
   */
  commit(): boolean;
  /** Another cluster or a rewound one: forget objects, points and everything derived. */
  forgetCluster(because: string): void;
  health(): StoreHealth;
  close(): void;
}
