/**
 * The file of the candidate's thread: stands for election on its own connection to the API server,
 * so that neither a busy main thread nor its requests can delay a renewal.
 */
import { createClientFactory } from '../kube/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemRandom } from '../runtime/random.ts';
import { Candidate } from './candidate.ts';
import { Cells } from './cells.ts';
import { leaseLock } from './lock.ts';
import type { FromCandidate, ToCandidate, WorkerStart } from './messages.ts';
import { recordFile } from './record.ts';
import { postedLogger } from './worker-log.ts';

declare const self: Worker;

/** Upstream's defaults for a client; an election never comes near. */
const QPS = 20;
const BURST = 30;

let candidate: Candidate | undefined;

self.onmessage = (event: MessageEvent<WorkerStart | ToCandidate>) => {
  const said = event.data;
  if (said.kind === 'start') candidate ??= start(said);
  else if (said.kind === 'stand-by') candidate?.standBy(said.round, said.remembered);
  else candidate?.release();
};

function start({ setup, config, version, verbosity }: WorkerStart): Candidate {
  const clock = systemClock();
  const tell = (message: FromCandidate) => self.postMessage(message);
  // The candidate alone decides when it may write; its Lease is what the fence is made of.
  const open = new AbortController().signal;
  const factory = createClientFactory(config, {
    clock,
    log: postedLogger(tell, verbosity),
    metrics: createMetrics({ process: 'none' }),
    fence: { mayWrite: () => true, signal: () => open },
    qps: QPS,
    burst: BURST,
    useServiceAccountCredentials: false,
    version,
  });
  const started = new Candidate(setup, {
    lock: leaseLock(factory.client('leader-election'), setup.lease),
    records: recordFile(setup.runtimeDirectory, setup.lease),
    cells: new Cells(setup.cells),
    clock,
    random: systemRandom(),
    tell,
  });
  void started.run();
  return started;
}
