/** The compiled program and the settings under which it starts itself. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, notYet, REPOSITORY } from '../rig/index.ts';

setDefaultTimeout(60_000);

const BINARY = join(REPOSITORY, 'dist', 'holdfast');
const SETTING = 'BUN_JSC_useFTLJIT';
const folder = mkdtempSync(join(tmpdir(), 'holdfast-engine-'));
afterAll(() => rmSync(folder, { recursive: true }));

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: nobody
contexts: [{ name: nobody, context: { cluster: nobody, user: nobody } }]
clusters: [{ name: nobody, cluster: { server: 'http://127.0.0.1:1' } }]
users: [{ name: nobody, user: {} }]
`;

/** What the kernel says of a manager that waits for an API server, once its state file is there. */
async function started(name: string, env: Readonly<Record<string, string>>) {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, KUBECONFIG);
  const state = join(folder, name);
  const flags = [`--kubeconfig=${kubeconfig}`, '--secure-port=0', `--state-dir=${state}`];
  const child = Bun.spawn([BINARY, ...flags, `--state-runtime-dir=${state}/run`], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stderr: 'ignore',
  });
  try {
    const about = (what: string) => readFileSync(`/proc/${child.pid}/${what}`, 'utf8');
    await eventually(async () => readFileSync(join(state, 'state.db')).length > 0 || notYet(0), {
      describe: 'the state file',
    });
    const settings = about('environ').split('\0');
    return {
      setting: settings.filter((text) => text.startsWith(`${SETTING}=`)),
      others: settings.filter((text) => text.startsWith('OF_THE_CALLER=')),
      name: about('comm').trim(),
      flags: about('cmdline').split('\0').slice(1, -1).slice(0, flags.length),
      wanted: flags,
    };
  } finally {
    child.kill('SIGKILL');
    await child.exited;
  }
}

test('it starts itself under its settings as the same process with the same words', async () => {
  const found = await started('own', { OF_THE_CALLER: 'stays' });
  expect(found.setting).toEqual([`${SETTING}=0`]);
  expect(found.others).toEqual(['OF_THE_CALLER=stays']);
  expect(found.name).toBe('holdfast');
  expect(found.flags).toEqual(found.wanted);
});

test('a setting of the caller stands', async () => {
  const found = await started('given', { [SETTING]: '1' });
  expect(found.setting).toEqual([`${SETTING}=1`]);
});
