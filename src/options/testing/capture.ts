/**
 * Writes the fixtures in testdata/ anew, from a real kube-controller-manager of another version:
 * bun src/options/testing/capture.ts PATH-OF-THE-BINARY && make fmt
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { KUBERNETES_VERSION } from '../../version.ts';
import { ACCEPTED_CASES } from './accepted-cases.ts';
import { REFUSAL_CASES, SETUP_CASES } from './cases.ts';
import { ask, helpOnTerminal, show } from './reference.ts';

const WIDTHS = [40, 60, 80, 120, 200, 300];
const [binary = ''] = process.argv.slice(2);

async function write(name: string, text: string): Promise<void> {
  await Bun.write(join(import.meta.dir, '..', 'testdata', name), text);
}

function listText(items: readonly object[]): string {
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]\n`;
}

const answers = [
  ...REFUSAL_CASES.map((args) => ask(binary, args, false)),
  ...SETUP_CASES.map((args) => ask(binary, args, true)),
];
await write(`refusals-${KUBERNETES_VERSION}.json`, listText(answers));

const shown = Object.entries(ACCEPTED_CASES).map(([name, args]) => [name, show(binary, args)]);
await write(
  `shown-${KUBERNETES_VERSION}.json`,
  `${JSON.stringify(Object.fromEntries(shown), undefined, 1)}\n`,
);

const help = Bun.spawnSync([binary, '--help']).stdout.toString();
await write(`help-${KUBERNETES_VERSION}.txt`, help);

const hashes = WIDTHS.map((columns) => {
  const text = helpOnTerminal(binary, columns);
  return [columns, createHash('sha256').update(text).digest('hex')];
});
await write(
  `help-widths-${KUBERNETES_VERSION}.json`,
  `${JSON.stringify(Object.fromEntries(hashes), undefined, 1)}\n`,
);
