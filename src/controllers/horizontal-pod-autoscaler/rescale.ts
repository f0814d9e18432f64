/** Sends the new size of a target; a conflict is tried again with what the server has now. */
import { isConflict } from '../../api/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import type { Scale, Scales } from '../_kit/scale/scales.ts';
import type { Target } from './target.ts';

const TRIES = 5;
const PAUSE_MS = 10;

/** What is asked for, and why. */
export interface Wanted {
  readonly replicas: number;
  readonly because: string;
}

/** Throws the last conflict after five tries, and any other error at once. */
export async function rescale(
  { scales, clock }: { readonly scales: Scales; readonly clock: Pick<Clock, 'sleep'> },
  run: SyncRun,
  { resource, at, scale: read }: Target,
  wanted: Wanted,
): Promise<void> {
  let scale: Scale = read;
  for (let attempt = 1; ; attempt++) {
    try {
      await scales.update(run, resource, scale, { namespace: at.namespace, ...wanted });
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === TRIES) throw error;
    }
    // Without an answer the old one is sent once more, to be refused again.
    scale = await scales.get(run, resource, at).catch(() => scale);
    await clock.sleep(PAUSE_MS, run.signal);
  }
}
