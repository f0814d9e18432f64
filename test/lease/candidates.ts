/** Starts processes of stand.ts and reads what they say. */
import { join } from 'node:path';
import { Child, eventually } from '../rig/index.ts';
import type { Plan } from './stand.ts';

/** One line of stand.ts. */
export interface Said {
  readonly what: string;
  /** Milliseconds since its start. */
  readonly at: number;
  readonly how?: string;
  readonly term?: number;
  readonly followsOwn?: boolean;
  readonly may?: boolean;
  readonly wall?: number;
  readonly message?: string;
  readonly line?: string;
  readonly identity?: string;
  readonly because?: string;
}

let serial = 0;

/** A process that stands for election. */
export class Stander extends Child {
  /** Runs stand.ts from source, or the `program` compiled from it. */
  constructor(dir: string, plan: Plan, program: readonly string[] = FROM_SOURCE) {
    const name = `stander-${++serial}`;
    const logPath = join(dir, `${name}.log`);
    super({ name, command: [...program, JSON.stringify(plan)], logPath, cwd: '/' });
  }

  said(what?: string): Said[] {
    const lines = this.log().split('\n');
    const whole = lines.slice(0, -1).filter((line) => line.startsWith('{'));
    const said = whole.map((line) => JSON.parse(line) as Said);
    return what === undefined ? said : said.filter((one) => one.what === what);
  }

  /** Waits for the `count`th line of this kind. */
  async waitFor(what: string, count = 1, timeoutMs = 20_000): Promise<Said> {
    const describe = `${what} #${count} of ${this.name}`;
    const there = () => this.said(what).length >= count || !this.running;
    await eventually(there, { timeoutMs, everyMs: 20, describe });
    const said = this.said(what)[count - 1];
    if (said === undefined) throw new Error(`no ${what} #${count}: ${this.tail()}`);
    return said;
  }

  async identity(): Promise<string> {
    return (await this.waitFor('standing')).identity ?? '';
  }
}

export const FROM_SOURCE = [process.execPath, join(import.meta.dir, 'stand.ts')];

/** Wall times between which this process might write; the end is `until` if it still may then. */
export function spans(said: readonly Said[], until: number): [number, number][] {
  const found: [number, number][] = [];
  for (const { may, wall = 0 } of said) {
    if (may === true) found.push([wall, until]);
    else if (may === false && found.length > 0) found[found.length - 1]![1] = wall;
  }
  return found;
}
