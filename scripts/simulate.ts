/**
 * `make simulate`: cluster life in model time, seed after seed. HOURS (20) of model time a seed, SEED
 * for one seed only, RUNS (50) seeds otherwise, from FROM on or from a drawn one. A seed that fails
 * is printed with what did not hold and the way there, and ends the run with code 1.
 */
import { simulate } from '../test/simulation/run.ts';

const DEFAULT_HOURS = 20;
const DEFAULT_RUNS = 50;
const TRACE_LINES = 200;

function numberOf(name: string, fallback: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return fallback;
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name}=${text} is no number: want e.g. ${name}=20`);
}

async function main(): Promise<number> {
  const hours = numberOf('HOURS', DEFAULT_HOURS);
  const only = process.env.SEED ?? '';
  const first = only === '' ? numberOf('FROM', Math.floor(Math.random() * 2 ** 31)) : Number(only);
  const runs = only === '' ? numberOf('RUNS', DEFAULT_RUNS) : 1;
  let lived = 0;
  let failed = 0;
  const since = performance.now();
  for (let seed = first; seed < first + runs; seed++) {
    try {
      const figures = await simulate(seed, hours, TRACE_LINES);
      lived += figures.modelHours;
      console.log(`seed ${seed}: ${JSON.stringify(figures)}`);
    } catch (error) {
      failed++;
      console.log(error instanceof Error ? error.message : String(error));
    }
  }
  const seconds = Math.round((performance.now() - since) / 1e3);
  console.log(
    `${Math.round(lived)} model hours in ${seconds} s; ${failed} of ${runs} seeds failed`,
  );
  return failed === 0 ? 0 : 1;
}

process.exit(await main());
