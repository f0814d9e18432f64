/** Reads alert rules and dashboards as far as their metrics go. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { REPOSITORY } from '../rig/index.ts';

const FOLDER = join(REPOSITORY, 'packaging', 'monitoring');
export const ALERTS = join(FOLDER, 'alerts.yaml');
const DASHBOARD = join(FOLDER, 'dashboard.json');

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

export interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets: readonly { readonly expr: string }[];
}

/** The rules of alerts.yaml. */
export function alertRules(): readonly Rule[] {
  const file = parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] };
  return file.groups.flatMap(({ rules }) => rules);
}

/** The panels of dashboard.json. */
export function panels(): readonly Panel[] {
  return (JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }).panels;
}

const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'by', 'on', 'without', 'ignoring']);

/** Names of metrics in an expression of PromQL, in order of appearance. */
export function metricNames(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .replace(/\{[^{}]*\}/g, ' ')
    .replace(/\[[^[\]]*\]/g, ' ')
    .replace(/\b(by|on|without|ignoring|group_left|group_right)\s*\([^()]*\)/g, ' ');
  const names = [...bare.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\(|[a-zA-Z0-9_:])/g)];
  return [...new Set(names.map(([name]) => name).filter((name) => !WORDS.has(name)))];
}

/** What is wrong with the brackets of an expression; "" if nothing is. */
export function bracketFault(expr: string): string {
  const open: string[] = [];
  const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
  for (const sign of expr.replace(/"(?:[^"\\]|\\.)*"/g, '')) {
    if ('([{'.includes(sign)) open.push(sign);
    else if (sign in pairs && open.pop() !== pairs[sign]) return `a ${sign} too many`;
  }
  return open.length === 0 ? '' : `${open.join(' ')} is not closed`;
}
