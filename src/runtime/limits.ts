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
/** Fetches that Bun lets out at once in the whole process (BUN_CONFIG_MAX_HTTP_REQUESTS). */
export const FETCHES_IN_PROCESS_MAX = 256;
/** Of these, left for other threads: the renewal of the Lease must never wait in line. */
export const FETCHES_RESERVED = 16;
/** Times a request is sent again after Retry-After, or a GET after a reset. */
export const REQUEST_RETRIES_MAX = 10;
/** Idle connections are closed after this; kube-apiserver closes them after 90 s. */
export const CONNECTION_IDLE_SECONDS = 60;
/** Certificate and token files are looked at again after this, and after a 401. */
export const CREDENTIAL_CHECK_INTERVAL_MS = 10_000;
/** Characters of an answer that is no Status that go into an error message. */
export const ERROR_BODY_CHARS_MAX = 2_048;

// Store
export const BATCH_DELAY_MS = 200;
export const BATCH_ROWS_MAX = 2_000;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;
export const BATCH_TORN_BYTES = 32 * 1024 * 1024;
/** Parsed objects of one resource that are kept at hand, and the length of their JSON in all. */
export const OBJECT_CACHE_ENTRIES_MAX = 2_000;
export const OBJECT_CACHE_BYTES_MAX = 2.5 * 1024 * 1024;
export const JOURNAL_ROWS_MAX = 10_000;
export const JOURNAL_AGE_MAX_MS = 24 * 3_600_000;
export const WAL_BYTES_HIGH = 16 * 1024 * 1024;
export const CHECKPOINT_INTERVAL_MS = 30_000;
/** A failing disk is tried again after this, doubling up to the second. */
export const BATCH_RETRY_MS_MIN = 1_000;
export const BATCH_RETRY_MS_MAX = 60_000;
/** How long a commit barrier waits for the helper to start a new WAL. */
export const COMMIT_HOLD_WAIT_MS = 100;
export const SCAN_PAGE_ROWS = 200;
export const JOURNAL_PENDING_MAX = 1_000;
export const JOURNAL_BYTES_MAX = 16 * 1024 * 1024;
export const JOURNAL_TEXT_MAX = 1_000;
export const JOURNAL_WRITES_MAX = 500;
/** So many new journal rows between two times of trimming it. */
export const JOURNAL_TRIM_ROWS = 500;
/** WAL growth that asks for a checkpoint out of turn. */
export const WAL_BYTES_STEP = 4 * 1024 * 1024;
/** A WAL above this is emptied by the hourly housekeeping. */
export const WAL_BYTES_LOW = 1024 * 1024;
/** A WAL this long, because some reader never ends, stops the writing to disk. */
export const WAL_BYTES_MAX = 256 * 1024 * 1024;
/** How long the helper waits for readers before it gives up emptying the WAL. */
export const WAL_RESTART_WAIT_MS = 250;
/** How long opening waits for another process that is writing. */
export const DATABASE_BUSY_WAIT_MS = 5_000;
export const HOUSEKEEPING_INTERVAL_MS = 3_600_000;
export const VACUUM_PAGES_MAX = 256;
/** Without a usable disk, opening one is tried after this, doubling up to the second. */
export const REOPEN_DELAY_MS_MIN = 5_000;
export const REOPEN_DELAY_MS_MAX = 300_000;
/** The page check of a file that was last used in this boot comes this long after the start. */
export const QUICK_CHECK_DELAY_MS = 60_000;
/** How long the CLI's reader waits for a lock. */
export const INSPECT_BUSY_WAIT_MS = 2_000;
/** How often the process looks whether it was asked to forget something. */
export const FORGET_LOOK_INTERVAL_MS = 1_000;
/** It answers after this even if the server has not listed everything anew by then. */
export const FORGET_RELIST_WAIT_MS = 30_000;
/** The asker gives up after this without an answer. */
export const FORGET_ANSWER_WAIT_MS = 60_000;
export const FORGET_FILE_BYTES_MAX = 64 * 1024;
export const INSPECT_ROWS_MAX = 1_000;
/** Of one object explained: what it owns, and reconciles and writes about it. */
export const EXPLAIN_RELATIVES_MAX = 100;
export const EXPLAIN_JOURNAL_ROWS_MAX = 50;
/** Reconciles that the process looks through for one object. */
export const EXPLAIN_JOURNAL_LOOK_MAX = 2_000;
/** How many relatives a sentence names. */
export const EXPLAIN_NAMED_MAX = 5;
/** Of so many of the objects that it owns (a Deployment's ReplicaSets) the pods are looked at too. */
export const EXPLAIN_BELOW_OWNERS_MAX = 10;

/** How often at most the writer notes in the file what it has written. */
export const WRITES_NOTED_INTERVAL_MS = 10 * 60_000;

// Framework
export const EXPECTATION_TIMEOUT_MS = 5 * 60_000;
export const INTENT_EXPIRY_MS = 2 * 60_000;
export const EVENT_QUEUE_MAX = 1_000;
export const EVENT_CACHE_ENTRIES_MAX = 4_096;
export const DELTA_SINGLE_GETS_MAX = 200;
export const DELTA_CHANGED_FRACTION = 0.05;

/** Node names, subdomains and lists of ports that pod records hold together. */
export const POD_VALUES_SHARED_MAX = 8_192;

// Reflectors
export const REFLECTOR_BACKOFF_BASE_MS = 200;
export const REFLECTOR_BACKOFF_MAX_MS = 30_000;
export const FENCE_WATCH_SECONDS = 3;
/** What a watch of that length lasts at least, by two clocks that differ a little. */
export const QUIET_WATCH_MS_MIN = 2_900;
export const WATCH_EMPTY_END_MS = 1_000;
export const TORN_CHECK_INTERVAL_MS = 5_000;
export const PROGRESS_SAVE_INTERVAL_MS = 15 * 60_000;
export const DELTA_GETS_AT_ONCE = 8;
export const PROBE_TIMEOUT_MS = 10_000;

// Following what discovery finds
/** The server is asked what it serves this often. */
export const DISCOVERY_INTERVAL_MS = 30_000;
/** Who misses a kind has the server asked again if the last answer is older than this. */
export const DISCOVERY_MISS_AGE_MS = 5_000;
/** Ties that are shared between objects, by first owner. */
export const TIES_KEPT_MAX = 4_096;
/** Objects of a cache whose last change waits for another commit to be written. */
export const HELD_BACK_OBJECTS_MAX = 1_000;
/** Watches of followed resources that may be open at once; beyond it they take turns. */
export const FOLLOWED_WATCHES_MAX = 88;
/** How long a watch may go on when others wait for its place. */
export const FOLLOWED_WATCH_TURN_MS = 10_000;

// Pod control
export const SLOW_START_INITIAL = 1;
export const POD_DELETES_AT_ONCE = 64;
export const NAME_COLLISIONS_MAX = 8;

// Worker loop
export const JOURNAL_WRITES_PER_ROW_MAX = 20;
export const FENCED_RETRY_MS = 1_000;
export const STALE_CACHE_RETRY_MS = 100;
/** A key that failed too often is dropped, and looked at again after KCM's shortest resync. */
export const DROPPED_KEY_RETRY_MS = 12 * 3_600_000;

// Leaf modules of the framework
/** Longest single sleep of a timer: after a suspend a timer is late by at most this. */
export const TIMER_STEP_MAX_MS = 60_000;
/** How often it is looked whether somebody set the wall clock, and by how much it must differ. */
export const WALL_CLOCK_LOOK_INTERVAL_MS = 10_000;
export const WALL_CLOCK_SET_MS = 1_000;
export const EVENT_TRIES_MAX = 12;
export const EVENT_RETRY_MS = 10_000;
/** Entries of each event cache that are handed over to the next process. */
export const EVENT_REMEMBERED_MAX = 256;
/** Rows of one controller's memory; beyond it the row set longest ago is dropped. */
export const MEMORY_ROWS_MAX = 50_000;
/** Downtime up to this is counted by remembered countdowns. */
export const DOWNTIME_COUNTED_MAX_MS = 15_000;
/** After a longer pause controllers wait until the caches have caught up, whoever led before. */
export const SEAMLESS_DOWNTIME_MAX_MS = 15_000;
/** A process that didn't look at the clock for longer was frozen, or the machine slept. */
export const STALL_COUNTED_MAX_MS = 15_000;
/** How often it is noted, outside the disk, that this process still watches. */
export const WATCHED_MARK_INTERVAL_MS = 2_000;
/** Stretches of unwatched time that are told apart. */
export const WATCHED_GAPS_MAX = 64;

// Owners
/** Compiled selectors kept by a controller for finding who adopts an orphan. */
export const OWNER_SELECTORS_MAX = 10_000;
export const IDENTITY_BACKOFF_BASE_MS = 200;
export const IDENTITY_BACKOFF_MAX_MS = 10_000;

// Pod disruption budgets
/** Compiled selectors of budgets kept for finding those of a pod. */
export const BUDGET_SELECTORS_MAX = 10_000;

// Horizontal pod autoscalers
/** Pods whose requests and times are kept parsed. */
export const AUTOSCALED_POD_FACTS_MAX = 10_000;

// Garbage collection
/** Identities of owners that are known to be absent. */
export const ABSENT_OWNERS_MAX = 500;
/** Dependents of one owner that lose their reference to it at the same time. */
export const ORPHANED_AT_ONCE = 32;

// Jobs
/** Failed pods whose exit codes and annotations are kept parsed. */
export const JOB_FAILURE_FACTS_MAX = 10_000;
/** Finalizers of one Job's pods removed at the same time. */
export const JOB_FINALIZERS_AT_ONCE = 64;

// Quotas
/** Prices of objects that are shared by all that cost the same. */
export const QUOTA_PRICES_MAX = 4_096;
/** Objects priced in one go before others get their turn. */
export const PRICES_BEFORE_PAUSE = 200;

// Pod garbage
/** Ended pods read in one go before others get their turn. */
export const PODS_READ_BEFORE_PAUSE = 200;

// Leader election
/** Takes repeated at once after a conflict with the last request of a dead process. */
export const HURRIED_TAKES_MAX = 3;
/** Renew times of unanswered writes that a runtime record keeps. */
export const RENEW_TIMES_MAX = 4;
export const RUNTIME_RECORD_BYTES_MAX = 16 * 1024;
/** Shortest and longest time between two beats of the main thread for the candidate's thread. */
export const HEARTBEAT_MS_MIN = 50;
export const HEARTBEAT_MS_MAX = 1_000;
/** How much longer than the renew deadline a candidate may take to release the Lease. */
export const CANDIDATE_STOP_GRACE_MS = 1_000;

// Serving
export const CERTIFICATE_CHAIN_MAX = 10;
export const TOKEN_CACHE_ENTRIES_MAX = 1_024;
export const TOKEN_REVIEW_TIMEOUT_MS = 10_000;
export const ACCESS_CACHE_ENTRIES_MAX = 1_024;
export const ACCESS_REVIEW_TIMEOUT_MS = 10_000;
export const CERTIFICATE_RELOAD_INTERVAL_MS = 60_000;
export const DEBUG_ROWS_MAX = 1_000;
/** Failing keys of one queue that the page names. */
export const OVERVIEW_FAILING_MAX = 50;
/** Of the page: failing keys of all queues, watched resources, reconciles. */
export const OVERVIEW_FAILING_ROWS_MAX = 100;
export const OVERVIEW_WATCH_ROWS_MAX = 150;
export const OVERVIEW_JOURNAL_ROWS_MAX = 40;
/** The page asks to be read again after this. */
export const OVERVIEW_REFRESH_SECONDS = 10;
/** Rates of queues are of the last minute, those of the state file of the last hour. */
export const QUEUE_RATE_WINDOW_MS = 60_000;
export const QUEUE_RATE_STEPS = 12;
export const STORE_RATE_WINDOW_MS = 3_600_000;
export const STORE_RATE_STEPS = 60;
export const TRUST_LOOKUP_INTERVAL_MS = 60_000;
export const EVENT_MEMORY_INTERVAL_MS = 10_000;

// systemd
/** How often systemd hears of a start that is still under way, and how long it is to wait after. */
export const SERVICE_START_LOOK_MS = 1_000;
export const SERVICE_START_EXTENSION_MS = 30_000;
/** How often the status line is looked at without a watchdog. */
export const SERVICE_LOOK_INTERVAL_MS = 10_000;

// Memory
/** Pages of the program file leave the process this long after its start, and again after that. */
export const PROGRAM_PAGES_FIRST_MS = 10_000;
export const PROGRAM_PAGES_INTERVAL_MS = 600_000;
