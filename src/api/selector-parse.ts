/** Label selectors written as one text ("app=web,tier in (a,b)"), read as upstream reads them. */
import { quote } from './go-quote.ts';
import { labelKeyProblems } from './label-syntax.ts';
import {
  type CompiledSelector,
  type Requirement,
  requirementProblem,
  selectorOf,
} from './selector.ts';

type Kind =
  | 'end'
  | 'error'
  | 'word'
  | ')'
  | '('
  | ','
  | '!'
  | '='
  | '!='
  | '>'
  | '<'
  | 'in'
  | 'notin';

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

const SYMBOLS: Readonly<Record<string, Kind>> = {
  ')': ')',
  '(': '(',
  ',': ',',
  '!': '!',
  '=': '=',
  '==': '=',
  '!=': '!=',
  '>': '>',
  '<': '<',
};
const SYMBOL_RUN = /^[=!(),><]+/;
const WORD = /^[^\s=!(),><]+/;
const SPACE = /^[ \t\r\n]+/;
const OPERATORS: Readonly<Partial<Record<Kind, Requirement['operator']>>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '!=': 'notin',
  '>': 'gt',
  '<': 'lt',
};
const OPERATOR_WORDS = 'in, notin, =, ==, !=, gt, lt';

class SyntaxProblem extends Error {}

/** Compiles a selector's text; "" selects everything. A bad one gives upstream's words for it. */
export function parseSelector(text: string): CompiledSelector {
  try {
    return { selector: selectorOf(new Parser(tokensOf(text)).requirements()) };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message };
    throw error;
  }
}

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let rest = text;
  for (;;) {
    rest = rest.replace(SPACE, '');
    if (rest === '') return [...tokens, { kind: 'end', text: '' }];
    const token = symbolAt(rest) ?? wordAt(rest);
    tokens.push(token);
    rest = rest.slice(token.kind === 'error' ? rest.length : token.text.length);
  }
}

/** The longest symbol that a run of special characters begins with. */
function symbolAt(rest: string): Token | undefined {
  const [run] = SYMBOL_RUN.exec(rest) ?? [];
  if (run === undefined) return undefined;
  const text = [run.slice(0, 2), run.slice(0, 1)].find((one) => SYMBOLS[one] !== undefined);
  const kind = text === undefined ? undefined : SYMBOLS[text];
  if (text === undefined || kind === undefined) {
    return { kind: 'error', text: `error expected: keyword found '${run}'` };
  }
  return { kind, text };
}

function wordAt(rest: string): Token {
  const [text = rest] = WORD.exec(rest) ?? [];
  return { kind: text === 'in' || text === 'notin' ? text : 'word', text };
}

function isName({ kind }: Token): boolean {
  return kind === 'word' || kind === 'in' || kind === 'notin';
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  requirements(): readonly Requirement[] {
    const found: Requirement[] = [];
    for (;;) {
      const first = this.#peek();
      if (first.kind === 'end') return found;
      if (!isName(first) && first.kind !== '!') {
        throw unexpected(first, "expected: !, identifier, or 'end of string'");
      }
      found.push(this.#requirement());
      const next = this.#take();
      if (next.kind === 'end') return found;
      if (next.kind !== ',') throw unexpected(next, "expected: ',' or 'end of string'");
      const after = this.#peek();
      if (!isName(after) && after.kind !== '!') {
        throw unexpected(after, "expected: identifier after ','");
      }
    }
  }

  #requirement(): Requirement {
    try {
      const requirement = this.#parsed();
      const problem = requirementProblem(requirement);
      if (problem !== undefined) throw new SyntaxProblem(problem);
      return requirement;
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      throw new SyntaxProblem(`unable to parse requirement: ${error.message}`);
    }
  }

  #parsed(): Requirement {
    let token = this.#take();
    const isAbsent = token.kind === '!';
    if (isAbsent) token = this.#take();
    if (!isName(token)) throw unexpected(token, 'expected: identifier');
    const key = token.text;
    const bad = labelKeyProblems(key);
    if (bad.length > 0) {
      throw new SyntaxProblem(`<nil>: Invalid value: ${quote(key)}: ${bad.join('; ')}`);
    }
    if (isAbsent) return { key, operator: '!', values: [] };
    const next = this.#peek().kind;
    if (next === 'end' || next === ',') return { key, operator: 'exists', values: [] };
    const operator = this.#operator();
    const values = operator.isSet ? this.#values() : [this.#value()];
    return { key, operator: operator.name, values };
  }

  #operator(): { readonly name: Requirement['operator']; readonly isSet: boolean } {
    const token = this.#take();
    const name = OPERATORS[token.kind];
    if (name === undefined) throw unexpected(token, `expected: ${OPERATOR_WORDS}`);
    return { name, isSet: token.kind === 'in' || token.kind === 'notin' };
  }

  /** `(a, b)`; an empty place between commas is an empty value. */
  #values(): readonly string[] {
    const open = this.#take();
    if (open.kind !== '(') {
      throw new SyntaxProblem(`found '${open.text}' expected: '('`);
    }
    const first = this.#peek();
    if (first.kind === ')') {
      this.#take();
      return [''];
    }
    if (!isName(first) && first.kind !== ',') {
      throw unexpected(first, "expected: ',', ')' or identifier");
    }
    const values = this.#list();
    this.#take();
    return [...values].sort();
  }

  #list(): ReadonlySet<string> {
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (isName(token)) {
        values.add(token.text);
        const next = this.#peek();
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw unexpected(next, "expected: ',' or ')'");
        continue;
      }
      if (token.kind !== ',') throw unexpected(token, "expected: ',', or identifier");
      if (values.size === 0) values.add('');
      const next = this.#peek().kind;
      if (next === ')' || next === ',') values.add('');
      if (next === ')') return values;
    }
  }

  #value(): string {
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return '';
    const token = this.#take();
    if (!isName(token)) throw unexpected(token, 'expected: identifier');
    return token.text;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

function unexpected(token: Token, expected: string): SyntaxProblem {
  return new SyntaxProblem(`found '${token.text}', ${expected}`);
}
