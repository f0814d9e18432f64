/** A test's own connection to an API server that is restarted. */

const CUT = /ECONNRESET|ConnectionRefused|ECONNREFUSED|socket connection|Unable to connect/;
const CUT_TRIES = 10;
const CUT_PAUSE_MS = 1_000;

/** Does something again when the connection ends under it: that is no finding. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries >= CUT_TRIES || !CUT.test(String(error))) throw error;
      await Bun.sleep(CUT_PAUSE_MS);
    }
  }
}
