/** How a metric is named, and how it is put into words that it says nothing. */
import { quantityMilli } from '../../api/quantity.ts';
import { compileSelector, type Selector } from '../../api/selector.ts';
import { labelSelectorText } from '../../api/selector-text.ts';
import type { LabelSelector } from '../../api/types/index.ts';
import { MetricProblem } from './proposal.ts';

/** A metric's name and the selector that narrows it. */
export interface Identifier {
  readonly name: string;
  readonly selector?: LabelSelector;
}

/** Reason of a metric of a type that nobody knows. */
export const UNKNOWN_TYPE = 'InvalidMetricSourceType';

/** A metric that says nothing; its message is the one in "first error is: ...". */
export class MetricFailure extends Error {
  /** Of the event and of the condition. */
  readonly reason: string;
  /** Of the event, and the end of the condition's message. */
  readonly told: string;

  constructor(reason: string, told: string, message: string) {
    super(message);
    this.name = 'MetricFailure';
    this.reason = reason;
    this.told = told;
  }
}

/** How a problem is put into words: for the event, and for the error around it. */
export interface Wording {
  readonly reason: string;
  readonly error: (told: string) => string;
}

/** Runs one metric; a problem with it is told in its words. */
export async function inWords<T>(wording: Wording, compute: () => Promise<T>): Promise<T> {
  try {
    return await compute();
  } catch (error) {
    if (!(error instanceof MetricProblem)) throw error;
    throw new MetricFailure(wording.reason, error.message, wording.error(error.message));
  }
}

/** The same with words before a problem. */
export async function wrapped<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MetricProblem)) throw error;
    throw new MetricProblem(`${prefix}: ${error.message}`);
  }
}

/** What is wrong with a source that names no target. */
export function neitherTarget(source: string): string {
  return `invalid ${source} metric source: neither a value target nor an average value target was set`;
}

/** The selector of a metric. Throws MetricProblem for an invalid one. */
export function compiled(spec: LabelSelector | undefined): Selector {
  const { selector, problem } = compileSelector(spec);
  if (selector === undefined) throw new MetricProblem(problem);
  return selector;
}

/** What the status says about which metric it is. */
export function identified({ name, selector }: Identifier): Identifier {
  return { name, ...(selector === undefined ? {} : { selector }) };
}

/** How upstream names external metrics, and averages over objects. */
export function outsideName({ name, selector }: Identifier): string {
  return `external metric ${name}(${labelSelectorText(selector)})`;
}

/** True if a field is there; the server may send null. */
export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** Thousandths of a target. */
export function milli(text: string): bigint {
  return quantityMilli(text) ?? 0n;
}
