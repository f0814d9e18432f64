/** Which sources a release is made of, and how one binary is compiled from them. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { command, ROOT } from './command.ts';
import type { Target } from './targets.ts';

export interface Sources {
  readonly version: string;
  readonly commit: string;
  /** Time of the commit, seconds: SOURCE_DATE_EPOCH. */
  readonly epoch: number;
}

/** The sources of the commit that is checked out. Throws if files differ from it. */
export async function sources(allowDirty = false): Promise<Sources> {
  const changed = await command(['git', 'status', '--porcelain']);
  if (changed !== '' && !allowDirty) {
    throw new Error(`a release is made of a commit; these files differ from it:\n${changed}`);
  }
  const commit = (await command(['git', 'rev-parse', 'HEAD'])).trim();
  const epoch = Number(await command(['git', 'log', '-1', '--format=%ct']));
  return { version: manifest.version, commit, epoch };
}

export interface Compiled {
  readonly binary: string;
  /** The bundler's account of what went in. */
  readonly metafile: string;
}

/** Compiles for a target from the tree at `root` into `folder`, with the runtime of that file. */
export async function compile(
  target: Target,
  runtime: string,
  folder: string,
  { epoch }: Pick<Sources, 'epoch'>,
  root = ROOT,
): Promise<Compiled> {
  const binary = join(folder, 'holdfast');
  const metafile = join(folder, 'meta.json');
  mkdirSync(dirname(binary), { recursive: true });
  const words = [`--target=${target.target}`, `--runtime=${runtime}`, `--metafile=${metafile}`];
  await command(
    [process.execPath, join(root, 'scripts', 'build.ts'), ...words, `--outfile=${binary}`],
    { SOURCE_DATE_EPOCH: String(epoch) },
    root,
  );
  return { binary, metafile };
}
