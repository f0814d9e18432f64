/** Runs seeds; a failure is reported with its seed and its last lines. */
import { type Figures, World } from './world.ts';

/** How to see the same run again. */
function replayOf(seed: number, hours: number): string {
  return `make simulate SEED=${seed} HOURS=${hours}`;
}

/** One seed. Throws with the seed, what did not hold, and the way there. */
export async function simulate(seed: number, hours: number, traceLines = 60): Promise<Figures> {
  const world = new World(seed);
  try {
    return await world.live(hours);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const way = world.trace.last(traceLines).join('\n');
    const message = `seed ${seed}: ${why}\nreplay: ${replayOf(seed, hours)}\nthe way there:\n${way}`;
    throw new Error(message, { cause: error });
  } finally {
    await world.end();
  }
}
