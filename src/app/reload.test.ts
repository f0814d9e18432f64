import { expect, test } from 'bun:test';
import { parseOptions } from '../options/index.ts';
import { createLogger } from '../runtime/log.ts';
import { reloadLogLevel } from './reload.ts';

function optionsOf(file: string) {
  const result = parseOptions(
    ['--config=/c.yaml', '--kube-api-qps=50'],
    {},
    {
      readText: () => `kind: HoldfastConfiguration\n${file}`,
    },
  );
  if (result.kind === 'options') return result.options;
  throw new Error(result.kind === 'refused' ? result.refusal.message : result.kind);
}

function stage(file: string) {
  const lines: string[] = [];
  const options = optionsOf(file);
  const write = (line: string) => lines.push(line.replace(/^.*?\] /, ''));
  const log = createLogger({ ...options.logging, write, clock: { now: () => 0 }, pid: 1 });
  return {
    lines,
    log,
    reload: (next: string) => reloadLogLevel(log, options, () => optionsOf(next)),
  };
}

test('takes over -v and --vmodule from the file', () => {
  const { log, lines, reload } = stage('v: 1');
  const jobs = log.named('job');
  reload('v: 3\nvmodule: { job: 5 }');
  expect([log.verbosity(), log.enabled(4), jobs.enabled(5)]).toEqual([3, false, true]);
  reload('');
  expect([log.verbosity(), jobs.enabled(1)]).toEqual([0, false]);
  expect(lines).toEqual([
    '"Reloaded the certificates and the log level" v=3',
    '"Reloaded the certificates and the log level" v=0',
  ]);
});

test('names the changed flags that only a start reads', () => {
  const { lines, reload } = stage('v: 1\nstate-dir: /a');
  reload('v: 2\nstate-dir: /b\nkube-api-qps: 30');
  expect(lines.at(-1)).toBe('"Changed flags count from the next start on" flags=["state-dir"]');
});

test('keeps the level if the file is refused', () => {
  const { log, lines, reload } = stage('v: 1');
  reload('v: loud');
  expect(log.verbosity()).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toStartWith(
    '"Could not read the configuration again; keeping the log level" err=',
  );
  expect(lines[0]).toContain('loud');
});
