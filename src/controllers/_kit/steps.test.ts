import { describe, expect, test } from 'bun:test';
import { FencedError, TransportError } from '../../api/errors.ts';
import {
  answerOf,
  asAnswer,
  attempt,
  carryOutSteps,
  StepError,
  type StepsOf,
  together,
} from './steps.ts';
import { refusal } from './testing/fake-run.ts';

const refused = refusal(403, 'Forbidden', 'no');

function* ask(...questions: string[]): StepsOf<string, number, number> {
  let sum = 0;
  for (const question of questions) sum += yield question;
  return sum;
}

function* tolerant(question: string): StepsOf<string, number, string> {
  const { value, error } = yield* attempt(ask(question));
  return error === undefined ? `${value}` : `failed: ${error.message}`;
}

describe('carrying steps out', () => {
  test('hands each answer to the step that asked', async () => {
    const asked: string[] = [];
    const answer = async (question: string): Promise<number> => asked.push(question);
    expect(await carryOutSteps(ask('a', 'b'), answer)).toBe(3);
    expect(asked).toEqual(['a', 'b']);
  });

  test('throws refusals at the steps, which may go on', async () => {
    const answer = async (): Promise<number> => {
      throw refused;
    };
    expect(await carryOutSteps(tolerant('a'), answer)).toBe('failed: no');
    await expect(carryOutSteps(ask('a'), answer)).rejects.toBe(refused);
  });

  test('ends at once when the Lease is lost, and by a mistake', async () => {
    for (const error of [new FencedError(), new Error('a mistake')]) {
      const answer = async (): Promise<number> => {
        throw error;
      };
      await expect(carryOutSteps(tolerant('a'), answer)).rejects.toBe(error);
    }
  });
});

test('an attempt does not hide mistakes of the steps themselves', () => {
  function* broken(): StepsOf<string, number, number> {
    yield 'a';
    throw new TypeError('ours');
  }
  const steps = attempt(broken());
  steps.next();
  expect(() => steps.next(1)).toThrow('ours');
});

describe('errors of ports', () => {
  test('what is an answer stays as it is', () => {
    for (const error of [refused, new TransportError('cut'), new StepError('words', refused)]) {
      expect(asAnswer(error)).toBe(error);
    }
  });

  test('an answer put into words keeps the words', () => {
    const error = asAnswer(new Error('unable to delete: no', { cause: refused }));
    expect(error).toBeInstanceOf(StepError);
    expect(error.message).toBe('unable to delete: no');
    expect(answerOf(error)).toBe(refused);
  });

  test('the lost Lease comes through whatever words it is in', () => {
    const fenced = new FencedError();
    expect(() => asAnswer(new Error('unable to delete', { cause: fenced }))).toThrow(fenced);
    expect(() => asAnswer(new Error('ours'))).toThrow('ours');
  });
});

test('several errors become one, each text once', () => {
  const [a, b] = [new Error('a'), new Error('b')];
  expect(together([a])).toBe(a);
  expect(together([a, b, new Error('a')]).message).toBe('[a, b]');
  expect(together([a, new Error('a')]).message).toBe('a');
});
