/** What is told about one object: plain sentences, and the rows that they are made of. */

/** One group of rows. */
export interface Evidence {
  readonly title: string;
  readonly lines: readonly string[];
}

/** An object that the told one belongs to or owns, and that is cached. */
export interface ToldRelative {
  readonly relation: 'owner' | 'child';
  readonly kind: string;
  readonly resource: string;
  readonly key: string;
}

/** An object explained to a person. */
export interface Told {
  readonly title: string;
  /** The worst that is to be said. */
  readonly verdict: 'failing' | 'waiting' | 'quiet' | 'unknown';
  /** What is failing first, then what is awaited, then what was done. */
  readonly sentences: readonly string[];
  readonly relatives: readonly ToldRelative[];
  readonly evidence: readonly Evidence[];
}

/** The same as text: title, sentences, and the evidence below. */
export function toldText({ title, sentences, evidence }: Told): string {
  const groups = evidence
    .filter(({ lines }) => lines.length > 0)
    .map((group) => `\n${group.title}\n${group.lines.map((line) => `  ${line}\n`).join('')}`);
  return `${title}\n\n${sentences.map((text) => `${text}\n`).join('')}${groups.join('')}`;
}
