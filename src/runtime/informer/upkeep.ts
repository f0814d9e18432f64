/** What caches need once in a while: progress saved, torn rows mended, everything verified. */
import type { Clock, Timer } from '../clock.ts';
import { PROGRESS_SAVE_INTERVAL_MS, TORN_CHECK_INTERVAL_MS } from '../limits.ts';
import type { Random } from '../random.ts';

/** A reflector, as far as upkeep deals with it. */
interface Kept {
  saveProgress(): void;
  interrupt(): void;
  verify(): void;
  torn(): boolean;
}

export interface UpkeepDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Every resource is verified so often, milliseconds; 0: never. */
  readonly verifyIntervalMs: number;
  reflectors(): Iterable<Kept>;
  diskWell(): boolean;
}

/** Starts the three rounds; they end with the signal. */
export function startUpkeep(deps: UpkeepDeps): void {
  const saveAll = (): void => {
    for (const reflector of deps.reflectors()) reflector.saveProgress();
  };
  const mendTorn = (): void => {
    const torn = [...deps.reflectors()].filter((reflector) => reflector.torn());
    if (torn.length === 0 || !deps.diskWell()) return;
    for (const reflector of torn) reflector.interrupt();
  };
  every(deps, () => PROGRESS_SAVE_INTERVAL_MS, saveAll);
  every(deps, () => TORN_CHECK_INTERVAL_MS, mendTorn);
  if (deps.verifyIntervalMs > 0) verifyInTurn(deps);
}

/** One resource after the other, spread over the interval, so that the server never sees a wave. */
function verifyInTurn(deps: UpkeepDeps): void {
  let turn = 0;
  const next = (): void => {
    const all = [...deps.reflectors()];
    all[turn++ % Math.max(1, all.length)]?.verify();
  };
  const pause = (): number => {
    const count = Math.max(1, [...deps.reflectors()].length);
    return (deps.verifyIntervalMs / count) * (0.9 + deps.random.next() / 5);
  };
  every(deps, pause, next);
}

function every(
  { clock, signal }: Pick<UpkeepDeps, 'clock' | 'signal'>,
  pauseMs: () => number,
  work: () => void,
): void {
  let timer: Timer | undefined;
  const arm = (): void => {
    const fire = (): void => {
      work();
      if (!signal.aborted) arm();
    };
    timer = clock.after(pauseMs(), fire, { background: true });
  };
  signal.addEventListener('abort', () => timer?.cancel(), { once: true });
  arm();
}
