import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { helpText } from '../options/index.ts';
import { KUBERNETES_VERSION, VERSION } from '../version.ts';
import { COMMANDS } from './commands.ts';
import { STATE_COMMANDS } from './state/commands.ts';
import { runLine } from './testing/ports.ts';

describe('the manager', () => {
  test('runs without a subcommand, or with "run"', async () => {
    for (const argv of [['--kube-api-burst=9'], ['run', '--kube-api-burst=9']]) {
      const { code, ran, out, err } = await runLine(argv);
      expect([code, ran.length, out, err]).toEqual([7, 1, '', '']);
      expect(ran[0]?.generic.burst).toBe(9);
      expect(ran[0]?.program).toBe('holdfast');
    }
  });

  test('--help goes to stdout, also after "run"', async () => {
    for (const argv of [['--help'], ['-h'], ['run', '--help'], ['help', 'run']]) {
      expect(await runLine(argv)).toMatchObject({ code: 0, out: helpText('holdfast'), err: '' });
    }
  });

  test('--version answers as kube-controller-manager does', async () => {
    expect((await runLine(['--version'])).out).toBe(`Kubernetes ${KUBERNETES_VERSION}\n`);
    expect((await runLine(['--version=raw'])).out).toMatch(
      /^version\.Info\{Major:"1", Minor:"36", .*GitVersion:"v1\.36\.3", .*\}\n$/,
    );
  });

  test('bad syntax: usage and the error on stderr', async () => {
    const { code, out, err } = await runLine(['--nope']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toStartWith('Usage:\n  holdfast [flags]\n\nDebugging flags:\n');
    expect(err).toEndWith('sets the reported version\n\nError: unknown flag: --nope\n');
  });

  test('arguments: the error alone', async () => {
    expect(await runLine(['--v=2', 'foo'])).toMatchObject({
      code: 1,
      out: '',
      err: 'Error: "holdfast" does not take any arguments, got ["foo"]\n',
    });
  });

  test('anything later is logged', async () => {
    const { code, out, err } = await runLine(['--secure-port=-1']);
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe(
      'E0101 00:10:00.000000      42 run] "command failed" err="--secure-port -1 must be between ' +
        '0 and 65535, inclusive. 0 for turning off secure port"\n',
    );
  });

  test('deprecated flags are told of on stderr', async () => {
    const { code, err } = await runLine(['--node-sync-period=1s']);
    expect(code).toBe(7);
    expect(err).toBe(
      'Flag --node-sync-period has been deprecated, ' +
        'This flag is currently no-op and will be deleted.\n',
    );
  });
});

describe('version', () => {
  test('is our own', async () => {
    const { out } = await runLine(['version']);
    expect(out).toStartWith(`holdfast ${VERSION} (commit `);
    expect(out).toContain(`stands in for kube-controller-manager ${KUBERNETES_VERSION}\n`);
  });

  test('as data', async () => {
    const json = JSON.parse((await runLine(['version', '-o', 'json'])).out);
    expect(json).toMatchObject({ version: VERSION, kubernetesVersion: KUBERNETES_VERSION });
    expect(parse((await runLine(['version', '--output=yaml'])).out)).toEqual(json);
  });
});

describe('config', () => {
  test('shows each flag and who set it', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
    try {
      const file = join(dir, 'config.yaml');
      writeFileSync(file, 'kind: HoldfastConfiguration\nkube-api-qps: 50\n');
      const argv = ['config', `--config=${file}`, '-v3', '--kube-api-burst', '60'];
      const changed = await runLine([...argv, '--changed']);
      const rows = changed.out.split('\n').map((line) => line.split(/ {2,}/));
      expect(rows).toEqual([
        ['FLAG', 'VALUE', 'FROM'],
        ['config', file, 'flag'],
        ['kube-api-burst', '60 requests', 'flag'],
        ['kube-api-qps', '50 requests per second', 'file'],
        ['v', '3', 'flag'],
        [''],
      ]);
      const all = await runLine([...argv, '-ojson']);
      const { flags, controllers } = JSON.parse(all.out);
      expect(flags).toContainEqual({ name: 'leader-elect', value: 'true', from: 'default' });
      expect(flags).toContainEqual({
        name: 'kube-api-qps',
        value: '50',
        from: 'file',
        unit: 'requests per second',
      });
      expect(controllers).toEqual(['*']);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  test.each([
    [['config', '--nope'], 'unknown flag: --nope'],
    [['config', '--secure-port=-1', '-o', 'yaml'], '--secure-port -1 must be between 0 and 65535'],
    [['config', '-o', 'xml'], '-o is "xml"; valid are: table, json, yaml'],
    [['config', '--output'], '--output needs a value: -o, --output FORMAT'],
    [['config', '--version'], '--version has no effect here'],
    [['config', 'x'], '"holdfast" does not take any arguments, got ["x"]'],
  ])('%j is refused', async (argv, message) => {
    const { code, out, err } = await runLine(argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toStartWith(`Error: ${message}`);
  });
});

describe('help', () => {
  test('lists every command', async () => {
    const { out } = await runLine(['help']);
    for (const { name } of COMMANDS) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
  });

  test('describes every command and subcommand, by "help" and by --help', async () => {
    const paths = [
      ...COMMANDS.filter(({ name }) => name !== 'help').map(({ name }) => [name]),
      ...STATE_COMMANDS.map(({ name }) => ['state', name]),
    ];
    for (const path of paths) {
      const byHelp = await runLine(['help', ...path]);
      expect(byHelp.out).toContain(`Usage:\n  holdfast`);
      expect((await runLine([...path, '--help'])).out).toBe(byHelp.out);
    }
  });

  test.each([
    [
      ['help', 'nope'],
      'there is no command nope; valid are: run, config, state, version, completion, help',
    ],
    [['help', 'state', 'nope'], 'there is no command state nope; valid are: queues, expectations,'],
    [['version', 'x'], 'too many words: "x"; usage: version'],
    [['version', '--nope'], 'there is no option --nope here; valid are: -o, --output FORMAT'],
    [['completion'], 'which shell? valid are: bash, zsh, fish'],
    [['completion', 'csh'], 'not "csh": valid are: bash, zsh, fish'],
    [['state'], 'what of the state? valid are: queues, expectations,'],
    [['state', 'nope'], 'there is no state nope; valid are: queues, expectations,'],
  ])('%j is refused', async (argv, message) => {
    const { code, out, err } = await runLine(argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toStartWith(`Error: ${message}`);
  });
});

describe('completion', () => {
  /** Asks bash what it would complete a line to. */
  async function complete(line: string): Promise<string[]> {
    const { out } = await runLine(['completion', 'bash']);
    const ask = `${out}
compopt() { :; }
line=$1; COMP_LINE=$line; COMP_POINT=\${#line}
read -ra COMP_WORDS <<< "$line"
[[ $line == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
_holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const run = Bun.spawnSync(['bash', '-c', ask, 'bash', line]);
    return run.stdout
      .toString()
      .split('\n')
      .filter((word) => word !== '');
  }

  test.each([
    ['holdfast st', ['state']],
    ['holdfast state jo', ['journal']],
    ['holdfast state le', ['lease']],
    ['holdfast state lease --state-r', ['--state-runtime-dir']],
    ['holdfast state objects pods --sel', ['--selector']],
    ['holdfast state forget pods --', ['--all', '--yes', '--force', '--state-dir', '--config']],
    ['holdfast state journal --s', ['--since', '--state-dir']],
    ['holdfast state explain pods/x --o', ['--output']],
    ['holdfast --kube-api-q', ['--kube-api-qps=']],
    ['holdfast run --profi', ['--profiling']],
    ['holdfast config --cha', ['--changed']],
    ['holdfast help state exp', ['expectations', 'explain', 'export']],
    ['holdfast completion ', ['bash', 'zsh', 'fish']],
  ])('bash completes %j', async (line, words) => {
    expect(await complete(line)).toEqual(words);
  });

  test('every shell gets every flag and command', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await runLine(['completion', shell]);
      expect(code).toBe(0);
      const words = ['--state-dir=', '--leader-elect', 'explain', 'lease', '--failing', '--all'];
      for (const word of words) {
        expect(out).toContain(word);
      }
      expect(out).not.toContain('--node-sync-period');
    }
  });
});
