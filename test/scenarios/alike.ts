/** Plays a scenario under both managers until they come out alike, a few times at most. */

const PLAYS_MAX = 3;

/**
 * The pair of the first play that came out alike, else that of the last one. Which of two changes
 * close to each other a manager sees, and which write finds its cache behind, is decided by the
 * moment: a difference counts if it comes again and again. Throws what the last play threw.
 */
export async function alike<T>(
  name: string,
  play: () => Promise<readonly [T, T]>,
): Promise<readonly [T, T]> {
  for (let left = PLAYS_MAX - 1; ; left--) {
    const pair = await play().catch((error: unknown) => {
      if (left === 0) throw error;
      console.log(`"${name}" failed and is played again: ${error}`);
      return undefined;
    });
    if (pair === undefined) continue;
    if (left === 0 || Bun.deepEquals(pair[0], pair[1])) return pair;
    console.log(`"${name}" came out differently and is played again`);
  }
}
