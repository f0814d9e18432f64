/**
 * A process that stands for election and does nothing else, for tests: prints one JSON line for
 * each thing that happens. Its one argument is the JSON of Plan. SIGTERM releases the Lease.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { loadClientConfig } from '../../src/kube/index.ts';
import {
  type ElectionTimes,
  type Machine,
  readMachine,
  runElected,
} from '../../src/lease/index.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLogger } from '../../src/runtime/log.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { systemRandom } from '../../src/runtime/random.ts';

export interface Plan {
  readonly kubeconfig: string;
  readonly times: ElectionTimes;
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly runtimeDirectory: string;
  readonly lockId?: string;
  /** Where facts are kept, as the store would. */
  readonly facts: string;
  readonly machine?: Partial<Machine>;
}

const LOOK_MS = 5;
/** How long SIGUSR2 keeps the main thread busy. */
const STUCK_MS = 6_000;

function say(what: string, fields: object = {}): void {
  process.stdout.write(`${JSON.stringify({ what, at: performance.now(), ...fields })}\n`);
}

function readFacts(path: string): Record<string, string> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

const plan = JSON.parse(process.argv.at(-1) ?? '') as Plan;
const clock = systemClock();
const facts = readFacts(plan.facts);
const elector = runElected({
  ...plan,
  lockId: plan.lockId,
  config: await loadClientConfig({ kubeconfig: plan.kubeconfig, env: {} }),
  version: 'test',
  machine: { ...readMachine(), ...plan.machine },
  facts: {
    get: (name) => facts[name],
    set: (name, text) => {
      facts[name] = text;
      writeFileSync(plan.facts, JSON.stringify(facts));
    },
  },
  clock,
  random: systemRandom(),
  log: createLogger({
    format: 'text',
    verbosity: 4,
    write: (line) => say('log', { line }),
    clock,
    pid: process.pid,
  }),
  metrics: createMetrics({ process: 'none' }),
  events: { event: (_about, _type, reason, message) => say('event', { reason, message }) },
});
say('standing', { identity: elector.identity });

/** What is said of the fence is what was seen: the end of a span is the last moment it was open. */
let mayWrite = false;
let lastOpen = 0;
function look(): void {
  const may = elector.fence.mayWrite();
  const wall = clock.now();
  if (may !== mayWrite) say('writes', { may, wall: may ? wall : lastOpen });
  mayWrite = may;
  if (may) lastOpen = wall;
}
function watchFence(): void {
  look();
  clock.after(LOOK_MS, watchFence);
}
watchFence();
elector.onLead((lead) => say('lead', { ...lead, info: elector.leaseInfo() }));
elector.onLost((because) => say('lost', { because }));

process.on('SIGTERM', async () => {
  await elector.release();
  say('released');
  process.exit(0);
});
// The main thread does nothing else meanwhile; it could write at any moment, so it looks.
process.on('SIGUSR2', () => {
  const until = clock.monotonic() + STUCK_MS;
  while (clock.monotonic() < until) look();
  say('unstuck');
});
