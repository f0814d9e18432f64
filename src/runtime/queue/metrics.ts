/** The workqueue_* families, by upstream's names, labels and buckets. */
import { exponentialBuckets, type Metrics, perKey, sampler, tally } from '../metrics.ts';

/** What one queue reports. */
export interface QueueMeter {
  /** A key became dirty (also while it is being processed). */
  added(): void;
  /** A dirty key was taken by a worker after this long. */
  taken(waitedMs: number): void;
  /** A worker is done with a key after this long. */
  finished(workedMs: number): void;
  /** A key was added with a delay. */
  retried(): void;
}

/** How long the keys under work have been so, when asked. */
export interface RunningWork {
  readonly totalMs: number;
  readonly longestMs: number;
}

export interface QueueMetrics {
  /**
   * The meter of a queue; its series start at zero. Queues of one name share their series; a second
   * one of the same `id` (default: the name) takes the place of the first. A queue without a name
   * reports nothing.
   */
  meter(
    queue: { readonly name: string; readonly id?: string },
    running: () => RunningWork,
  ): QueueMeter;
}

const SECONDS = exponentialBuckets(10e-9, 10, 10);

const NO_METER: QueueMeter = {
  added: () => undefined,
  taken: () => undefined,
  finished: () => undefined,
  retried: () => undefined,
};

function families(metrics: Metrics) {
  return {
    depth: metrics.gauge('workqueue_depth', '[BETA] Current depth of workqueue', ['name']),
    adds: metrics.counter(
      'workqueue_adds_total',
      '[BETA] Total number of adds handled by workqueue',
      ['name'],
    ),
    latency: metrics.histogram(
      'workqueue_queue_duration_seconds',
      '[BETA] How long in seconds an item stays in workqueue before being requested.',
      ['name'],
      SECONDS,
    ),
    work: metrics.histogram(
      'workqueue_work_duration_seconds',
      '[BETA] How long in seconds processing an item from workqueue takes.',
      ['name'],
      SECONDS,
    ),
    unfinished: metrics.gauge(
      'workqueue_unfinished_work_seconds',
      "[BETA] How many seconds of work has done that is in progress and hasn't been observed by " +
        'work_duration. Large values indicate stuck threads. One can deduce the number of stuck ' +
        'threads by observing the rate at which this increases.',
      ['name'],
    ),
    longest: metrics.gauge(
      'workqueue_longest_running_processor_seconds',
      '[BETA] How many seconds has the longest running processor for workqueue been running.',
      ['name'],
    ),
    retries: metrics.counter(
      'workqueue_retries_total',
      '[BETA] Total number of retries handled by workqueue',
      ['name'],
    ),
  };
}

/** One queue that reports under a name. */
interface Reporter {
  depth: number;
  running(): RunningWork;
}

/**
 * Registers the families. Unfinished work and the longest processor are worked out at each scrape
 * (upstream: every 500 ms).
 */
export function createQueueMetrics(metrics: Metrics): QueueMetrics {
  const { depth, adds, latency, work, unfinished, longest, retries } = families(metrics);
  const reporters = new Map<string, Map<string, Reporter>>();
  Object.assign(depth, {
    collect: () => {
      for (const [name, sharing] of reporters) {
        depth.set(
          { name },
          [...sharing.values()].reduce((sum, one) => sum + one.depth, 0),
        );
      }
    },
  });
  const running = (name: string): RunningWork[] =>
    [...(reporters.get(name)?.values() ?? [])].map((reporter) => reporter.running());
  Object.assign(unfinished, {
    collect: () => {
      for (const name of reporters.keys()) {
        const totalMs = running(name).reduce((sum, each) => sum + each.totalMs, 0);
        unfinished.set({ name }, totalMs / 1e3);
      }
    },
  });
  Object.assign(longest, {
    collect: () => {
      for (const name of reporters.keys()) {
        const longestMs = Math.max(...running(name).map((each) => each.longestMs));
        longest.set({ name }, longestMs / 1e3);
      }
    },
  });
  const join = (name: string, id: string, work: () => RunningWork): Reporter => {
    const sharing = reporters.get(name) ?? new Map<string, Reporter>();
    reporters.set(name, sharing);
    const reporter = { depth: 0, running: work };
    sharing.set(id, reporter);
    return reporter;
  };
  const series = perKey((name: string) => ({
    added: tally(adds, { name }),
    retried: tally(retries, { name }),
    waited: sampler(latency, { name }),
    worked: sampler(work, { name }),
  }));
  return {
    meter: ({ name, id = name }, running) => {
      if (name === '') return NO_METER;
      if (!reporters.has(name)) {
        for (const counter of [adds, retries]) counter.inc({ name }, 0);
        for (const histogram of [latency, work]) histogram.zero({ name });
      }
      const reporter = join(name, id, running);
      const { added, retried, waited, worked } = series(name);
      return {
        added: () => {
          added();
          reporter.depth++;
        },
        taken: (waitedMs) => {
          reporter.depth--;
          waited(waitedMs / 1e3);
        },
        finished: (workedMs) => worked(workedMs / 1e3),
        retried: () => retried(),
      };
    },
  };
}
