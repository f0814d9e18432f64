/** Starts the helper thread and carries jobs to it. */
import type { WorkerMessage, WorkerReply } from './checkpoint-worker.ts';
import type { Helper, HelperJob, HelperResults } from './helper.ts';

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/**
 * The worker's file. In a compiled binary all modules are one file at the root of the embedded file
 * system, and the worker is where `bun build --compile --root=src src/main.ts
 * src/store/checkpoint-worker.ts` puts it.
 */
function workerUrl(): URL {
  const compiled = import.meta.url.includes('/$bunfs/');
  const path = compiled ? './store/checkpoint-worker.ts' : './checkpoint-worker.ts';
  return new URL(path, import.meta.url);
}

/**
 * A helper in a thread of its own (a Bun worker). If the thread fails to start or dies, every job
 * asked, now and later, is rejected and the hold ends.
 */
export function helperThread(): Helper {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const waiting = new Map<number, Waiting>();
  let lost: Error | undefined;
  let jobs = 0;
  const worker = new Worker(workerUrl());
  const send = (message: WorkerMessage) => worker.postMessage(message);
  const lose = (error: Error) => {
    lost ??= error;
    Atomics.store(cell, 0, 0);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onerror = (event) => lose(new Error(`the helper thread failed: ${event.message}`));
  worker.addEventListener('close', () => lose(new Error('the helper thread has ended')));
  worker.onmessage = (event: MessageEvent<WorkerReply>) => {
    const reply = event.data;
    const job = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (waiting.size === 0) worker.unref();
    if (job === undefined) return;
    if ('error' in reply) job.reject(new Error(reply.error));
    else job.resolve(reply.result as never);
  };
  send({ holdCell: cell });
  worker.unref();
  return {
    ask: <J extends HelperJob>(job: J) =>
      new Promise<HelperResults[J['kind']]>((resolve, reject) => {
        if (lost !== undefined) {
          reject(lost);
          return;
        }
        const id = jobs++;
        waiting.set(id, { resolve, reject });
        worker.ref();
        send({ id, job });
      }),
    alive: () => lost === undefined,
    holding: () => Atomics.load(cell, 0) === 1,
    waitWhileHolding: (ms) => Atomics.wait(cell, 0, 1, ms) !== 'timed-out',
    end: () => worker.terminate(),
  };
}
