/** The helper thread: does the jobs that call fsync, so that the main thread never does. */
import { describeError } from './connection.ts';
import { HelperCore, type HelperJob } from './helper.ts';

declare const self: {
  onmessage: ((event: { data: WorkerMessage }) => void) | null;
  postMessage(message: WorkerReply): void;
};

/** To the thread: first the shared cell, then jobs. */
export type WorkerMessage =
  | { readonly holdCell: Int32Array }
  | { readonly id: number; readonly job: HelperJob };

/** From the thread: one for each job. */
export type WorkerReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

let cell: Int32Array | undefined;

const core = new HelperCore((on) => {
  if (cell === undefined) return;
  Atomics.store(cell, 0, on ? 1 : 0);
  if (!on) Atomics.notify(cell, 0);
});

self.onmessage = ({ data }) => {
  if ('holdCell' in data) {
    cell = data.holdCell;
    return;
  }
  try {
    self.postMessage({ id: data.id, result: core.do(data.job) });
  } catch (error) {
    self.postMessage({ id: data.id, error: describeError(error) });
  }
};
