import { describe, expect, test } from 'bun:test';
import { parseSelector } from './selector-parse.ts';

describe('a selector in a text', () => {
  test.each([
    ['', {}, true],
    ['app=web', { app: 'web' }, true],
    ['app==web', { app: 'web' }, true],
    ['app = web , tier!=db', { app: 'web', tier: 'x' }, true],
    ['tier!=db', { tier: 'db' }, false],
    ['tier!=db', {}, true],
    ['app in (a, b)', { app: 'b' }, true],
    ['app in (a,,b)', { app: '' }, true],
    ['app in ()', { app: '' }, true],
    ['app notin (a,b)', { app: 'c' }, true],
    ['app notin (a,b)', { app: 'a' }, false],
    ['app', { app: 'any' }, true],
    ['!app', { app: 'any' }, false],
    ['!app', {}, true],
    ['app=', { app: '' }, true],
    ['in in (in)', { in: 'in' }, true],
    ['cpus>4', { cpus: '5' }, true],
    ['cpus>4', { cpus: '4' }, false],
    ['cpus<4', { cpus: 'many' }, false],
    ['cpus<4', { cpus: '-1' }, true],
  ])('%p for %p', (text, labels, expected) => {
    expect(parseSelector(text).selector?.matches(labels as Record<string, string>)).toBe(expected);
  });

  test.each([
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['=b', "found '=', expected: !, identifier, or 'end of string'"],
    ['a (b)', "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
  ])('%p is none', (text, problem) => {
    expect(parseSelector(text)).toEqual({ problem });
  });

  test('says what is wrong with keys and values as upstream does', () => {
    expect(parseSelector('-a=b').problem).toStartWith(
      'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of',
    );
    expect(parseSelector('a=-b').problem).toStartWith(
      'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label must be',
    );
    expect(parseSelector('a>b').problem).toStartWith(
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators",
    );
  });

  test('is written again in one order', () => {
    const selector = parseSelector('b>1,a in (y,x),c,!d').selector;
    expect(selector?.text).toBe('a in (x,y),b>1,c,!d');
  });
});
