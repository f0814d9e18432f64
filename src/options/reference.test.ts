import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { helpText, parseOptions, usageText } from './index.ts';
import { ACCEPTED_CASES } from './testing/accepted-cases.ts';
import { REFUSAL_CASES, SETUP_CASES } from './testing/cases.ts';
import { type Answer, ask, CAPTURE_FLAGS, type Shown, show } from './testing/reference.ts';

const VERSION = 'v1.36.3';
const binary = process.env.HOLDFAST_REFERENCE_KCM ?? '';

function fixture(name: string): string {
  return readFileSync(new URL(`./testdata/${name}`, import.meta.url), 'utf8');
}

const answers = JSON.parse(fixture(`refusals-${VERSION}.json`)) as Answer[];
const shown = JSON.parse(fixture(`shown-${VERSION}.json`)) as Record<string, Shown>;
const help = fixture(`help-${VERSION}.txt`);

/** What we say, in the form the fixture has. */
function answerOf(args: readonly string[], late: boolean): Answer {
  const needed = late ? ['--kubeconfig=/x', '--bind-address=127.0.0.1'] : ['--kubeconfig=/x'];
  const result = parseOptions([...needed, ...args], {});
  const notices = result.notices.length === 0 ? {} : { notices: result.notices };
  if (result.kind !== 'refused') return { args, says: 'accepted', ...notices };
  const { stage, message } = result.refusal;
  const head = stage === 'setup' ? 'command failed' : 'Error';
  return { args, says: `${head}: ${message}`, ...notices };
}

/** Upstream walks a map where several gates miss what they need: their order is chance. */
function comparable(answer: Answer): Answer {
  if (!/depends on features|cannot set feature gate/.test(answer.says)) return answer;
  return { ...answer, says: answer.says.replace(/[[\]]/g, '').split(/: |, /).sort().join() };
}

describe('against the answers of kube-controller-manager', () => {
  test('the fixture has an answer for each case', () => {
    expect(answers.map(({ args }) => args)).toEqual([...REFUSAL_CASES, ...SETUP_CASES]);
    expect(answers.filter(({ says }) => says !== 'accepted').length).toBeGreaterThan(150);
  });

  for (const [at, answer] of answers.entries()) {
    test(`${JSON.stringify(answer.args)} ${answer.says.slice(0, 60)}`, () => {
      const ours = answerOf(answer.args, at >= REFUSAL_CASES.length);
      // Deprecated flags of a refused line are shown above the usage text.
      expect(comparable(ours)).toEqual(comparable(answer));
    });
  }
});

describe('what a running kube-controller-manager shows', () => {
  for (const [name, args] of Object.entries(ACCEPTED_CASES)) {
    const reference = shown[name];
    const result = parseOptions(args, {});
    if (result.kind !== 'options' || reference === undefined) {
      test(`${name}: accepted`, () => expect(result.kind).toBe('options'));
      continue;
    }
    const { options } = result;

    test(`${name}: /configz, key for key and in order`, () => {
      expect(sortedIgnored(options.configz)).toBe(sortedIgnored(reference.configz));
    });

    test(`${name}: feature gates`, () => {
      const ours = options.gates.all().map(({ name: gate, enabled }) => [gate, enabled]);
      expect(Object.fromEntries(ours)).toEqual(reference.gates);
    });

    test.skipIf(Object.keys(reference.flagz).length === 0)(`${name}: /flagz`, () => {
      const own = /^(?:state-|config$)/;
      const ours = Object.entries(options.flagz).filter(
        ([flag]) => !own.test(flag) && !CAPTURE_FLAGS.includes(flag),
      );
      expect(Object.fromEntries(ours)).toEqual(reference.flagz);
    });
  }
});

/** The reference walks a map for the ignored resources: their order is chance. */
function sortedIgnored(configz: object): string {
  return JSON.stringify(configz, (key, value) =>
    key === 'GCIgnoredResources' ? [...value].sort((a, b) => (a.Group < b.Group ? -1 : 1)) : value,
  );
}

describe('--help', () => {
  const STATE_SECTION = /\nState flags:\n\n(?:.+\n)+/;

  test('is the reference text but for the intro and our own section', () => {
    const ours = helpText('kube-controller-manager');
    expect(ours).toMatch(STATE_SECTION);
    const usage = (text: string) => text.slice(text.indexOf('\nUsage:'));
    expect(usage(ours).replace(STATE_SECTION, '')).toBe(usage(help));
  });

  test('usage starts with the name the program was called by', () => {
    expect(usageText('holdfast')).toStartWith('Usage:\n  holdfast [flags]\n');
    expect(usageText('holdfast')).toContain('help for holdfast');
  });
});

describe.skipIf(binary === '')('a live reference', () => {
  test('still says what the fixture says', () => {
    for (const [at, answer] of answers.entries()) {
      const live = ask(binary, answer.args, at >= REFUSAL_CASES.length);
      expect(comparable(live)).toEqual(comparable(answer));
    }
  }, 300_000);

  test('still shows what the fixture shows', () => {
    for (const [name, args] of Object.entries(ACCEPTED_CASES)) {
      const live = show(binary, args);
      expect(sortedIgnored(live.configz)).toBe(sortedIgnored(shown[name]?.configz ?? {}));
      expect(live.flagz).toEqual(shown[name]?.flagz ?? {});
      expect(live.gates).toEqual(shown[name]?.gates ?? {});
    }
  }, 300_000);

  test('still prints the help of the fixture', () => {
    expect(Bun.spawnSync([binary, '--help']).stdout.toString()).toBe(help);
  });
});
