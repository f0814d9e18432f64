/** A ControllerContext over the fakes of this folder, for tests of a whole controller. */
import type { ControllerContext, ControllerFlags } from '../../../runtime/controller.ts';
import { createCountdowns } from '../../../runtime/countdown.ts';
import { createExactCreates } from '../../../runtime/exact-create.ts';
import { Intents } from '../../../runtime/intents.ts';
import { DOWNTIME_COUNTED_MAX_MS } from '../../../runtime/limits.ts';
import type { Logger } from '../../../runtime/log.ts';
import { createMemory } from '../../../runtime/memory.ts';
import { createMetrics } from '../../../runtime/metrics.ts';
import type { IntentRow, MemoryRow, RowTable } from '../../../runtime/ports.ts';
import { seededRandom } from '../../../runtime/random.ts';
import { type FakeClock, fakeClock } from '../../../runtime/testing/fake-clock.ts';
import { memoryTable } from '../../../runtime/testing/memory-table.ts';
import { FakeInformers } from './fake-informers.ts';
import { FakeEvents, FakeExpectations, FakePodControl, FakeQueue } from './fake-ports.ts';

/** What a test of a controller may set. */
export interface FakeContextOptions {
  readonly now: number;
  readonly flags?: ControllerFlags;
  /** Feature gates that are off; all others are on. */
  readonly gatesOff?: readonly string[];
}

/** The context to build a controller with, and the fakes behind it. */
export interface FakeContext {
  readonly context: ControllerContext;
  readonly informers: FakeInformers;
  readonly queues: Map<string, FakeQueue>;
  readonly expectations: FakeExpectations;
  readonly podControl: FakePodControl;
  readonly events: FakeEvents;
  readonly clock: FakeClock;
  /** Owner keys whose caches are behind their own writes. */
  readonly behind: Set<string>;
  /** What controllers remember, as rows. */
  readonly memory: RowTable<MemoryRow>;
  /** Error lines that were logged. */
  readonly errors: string[];
  /** Messages of other lines that were logged, at the default verbosity. */
  readonly lines: string[];
}

/** Makes a context, without the raw client: a test of a controller that uses it adds one. */
export function fakeContext(options: FakeContextOptions): FakeContext {
  const informers = new FakeInformers();
  const queues = new Map<string, FakeQueue>();
  const expectations = new FakeExpectations();
  const podControl = new FakePodControl();
  const events = new FakeEvents();
  const clock = fakeClock(options.now);
  const behind = new Set<string>();
  const memory = memoryTable<MemoryRow>(({ controller, key }) => `${controller} ${key}`);
  const errors: string[] = [];
  const lines: string[] = [];
  const random = seededRandom(1);
  const intents = new Intents({
    controller: 'tested-controller',
    table: memoryTable<IntentRow>((row) => row.id),
    clock,
    term: 1,
    since: 1,
    newId: () => random.uuid(),
  });
  const off = new Set(options.gatesOff);
  const context: Partial<ControllerContext> = {
    name: 'tested-controller',
    informers,
    flags: options.flags ?? {},
    gate: (name) => !off.has(name),
    clock,
    random,
    log: fakeLogger(errors, lines),
    metrics: createMetrics({ process: 'none' }),
    queue: (name) => {
      const queue = queues.get(name) ?? new FakeQueue(name);
      queues.set(name, queue);
      return queue;
    },
    events: () => events,
    expectations: () => expectations,
    memory: (what, { encode, decode }) => {
      const store = memory;
      const made = createMemory({
        controller: what,
        store,
        clock,
        term: 1,
        since: 1,
        encode,
        decode,
      });
      made.restore();
      return made;
    },
    countdowns: createCountdowns(
      { clock, bootId: 'boot', since: clock.monotonic(), serverSteady: true },
      DOWNTIME_COUNTED_MAX_MS,
    ),
    caughtUp: (ownerKey) => !behind.has(ownerKey),
    podControl: () => podControl,
    exactCreates: () => createExactCreates({ intents, random }),
    caPem: '',
    rootCaPem: '',
    tokenSigner: undefined,
  };
  return {
    context: context as ControllerContext,
    informers,
    queues,
    expectations,
    podControl,
    events,
    clock,
    behind,
    memory,
    errors,
    lines,
  };
}

/** A logger that keeps error lines and messages, and drops what is said at higher verbosity. */
function fakeLogger(errors: string[], lines: string[]): Logger {
  const quiet: Logger = { ...silent(errors), v: () => quiet, named: () => quiet };
  const logger: Logger = {
    ...silent(errors),
    info: (message) => lines.push(message),
    warning: (message) => lines.push(message),
    v: (level) => (level === 0 ? logger : quiet),
    named: () => logger,
  };
  return logger;
}

function silent(errors: string[]): Omit<Logger, 'v' | 'named'> {
  return {
    info: () => {},
    warning: () => {},
    error: (message, error) => {
      errors.push(`${message}: ${error instanceof Error ? error.message : String(error)}`);
    },
    enabled: () => false,
  };
}
