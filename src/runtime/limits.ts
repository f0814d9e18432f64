/** Every bound of the process, by name, in one place. Units are in the names. */

// Requests and watches
export const LIST_PAGE_SIZE = 500;
export const REQUESTS_IN_FLIGHT_MAX = 96;
export const REQUEST_TIMEOUT_MS = 60_000;
export const WATCH_TIMEOUT_SECONDS_MIN = 300;
export const WATCH_TIMEOUT_SECONDS_MAX = 600;
export const WATCH_SILENCE_GRACE_MS = 15_000;
export const WATCH_LINE_BYTES_MAX = 8 * 1024 * 1024;
export const WATCH_CHUNK_EVENTS_MAX = 512;

// Store
export const BATCH_DELAY_MS = 200;
export const BATCH_ROWS_MAX = 2_000;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
export const BATCH_TORN_BYTES = 32 * 1024 * 1024;
export const OBJECT_CACHE_ENTRIES_MAX = 500;
export const JOURNAL_ROWS_MAX = 10_000;
export const JOURNAL_AGE_MAX_MS = 24 * 3_600_000;
export const WAL_BYTES_HIGH = 16 * 1024 * 1024;
export const CHECKPOINT_INTERVAL_MS = 30_000;

// Framework
export const EXPECTATION_TIMEOUT_MS = 5 * 60_000;
export const INTENT_EXPIRY_MS = 2 * 60_000;
export const EVENT_QUEUE_MAX = 1_000;
export const EVENT_CACHE_ENTRIES_MAX = 4_096;
export const DELTA_SINGLE_GETS_MAX = 200;
export const DELTA_CHANGED_FRACTION = 0.05;

// Reflectors
export const REFLECTOR_BACKOFF_BASE_MS = 800;
export const REFLECTOR_BACKOFF_MAX_MS = 30_000;
export const FENCE_WATCH_SECONDS = 3;
export const WATCH_EMPTY_END_MS = 1_000;
export const PROGRESS_SAVE_INTERVAL_MS = 15 * 60_000;
export const DELTA_GETS_AT_ONCE = 8;
export const PROBE_TIMEOUT_MS = 10_000;

// Pod control
export const SLOW_START_INITIAL = 1;
export const POD_DELETES_AT_ONCE = 64;
export const NAME_COLLISIONS_MAX = 8;

// Worker loop
export const JOURNAL_WRITES_PER_ROW_MAX = 20;
export const WORKER_STOP_TIMEOUT_MS = 10_000;
export const FENCED_RETRY_MS = 1_000;
export const INITIAL_PRIORITY = -1;

// Leaf modules of the framework
/** Longest single sleep of a timer: after a suspend a timer is late by at most this. */
export const TIMER_STEP_MAX_MS = 60_000;
export const EVENT_TRIES_MAX = 12;
export const EVENT_RETRY_MS = 10_000;
/** Entries of each event cache that are handed over to the next process. */
export const EVENT_REMEMBERED_MAX = 256;
/** Rows of one controller's memory; beyond it the row set longest ago is dropped. */
export const MEMORY_ROWS_MAX = 50_000;
/** Downtime up to this is counted by remembered countdowns. */
export const DOWNTIME_COUNTED_MAX_MS = 15_000;
