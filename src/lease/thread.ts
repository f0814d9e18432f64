/** Starts a candidate in a Bun worker with its own connection to the API server. */
import type { CandidateSetup, FromCandidate, ToCandidate, WorkerStart } from './messages.ts';

/** What the thread reports. */
export interface ThreadEvents {
  message(message: FromCandidate): void;
  /** The thread has died by itself; called once, never after `stop`. */
  died(because: string): void;
}

export interface CandidateThread {
  post(message: ToCandidate): void;
  /** Ends the thread at once; nothing is reported any more. */
  stop(): void;
}

/** Starts a candidate; simulations start one without a thread. */
export type StartThread = (setup: CandidateSetup, on: ThreadEvents) => CandidateThread;

/**
 * The worker's file. In a compiled binary all modules are one file at the root of the embedded file
 * system, and the worker is where `bun build --compile --root src src/main.ts src/lease/worker.ts`
 * puts it; the name there ends in .js but is found by .ts too.
 */
export function workerUrl(moduleUrl: string): URL {
  const compiled = moduleUrl.includes('/$bunfs/');
  return new URL(compiled ? './lease/worker.ts' : './worker.ts', moduleUrl);
}

/** Candidates as Bun workers, started with this. */
export function workerThreads(connection: Omit<WorkerStart, 'kind' | 'setup'>): StartThread {
  return (setup, on) => {
    const worker = new Worker(workerUrl(import.meta.url));
    let over = false;
    const died = (because: string) => {
      if (over) return;
      over = true;
      worker.terminate();
      on.died(because);
    };
    worker.onmessage = (event: MessageEvent<FromCandidate>) => {
      if (!over) on.message(event.data);
    };
    worker.onerror = (event) => died(event.message);
    worker.addEventListener('close', () => died('its thread has ended'));
    const start: WorkerStart = { kind: 'start', setup, ...connection };
    worker.postMessage(start);
    return {
      post: (message) => {
        if (!over) worker.postMessage(message);
      },
      stop: () => {
        over = true;
        worker.terminate();
      },
    };
  };
}
