/** What controllers ask about a Node. */
import { type RecordFields, recordFields } from './record.ts';
import type { Node, Taint } from './types/index.ts';

/** What `nodeRecordFields` gives: the record that the Node informer holds. */
export interface NodeRecordFields extends RecordFields {
  /** Taints that drive pods away, in order. */
  readonly noExecute: readonly Taint[];
}

const NO_TAINTS: readonly Taint[] = Object.freeze([]);

/** The record of a whole Node. */
export function nodeRecordFields(node: Node): NodeRecordFields {
  const noExecute = (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  return { ...recordFields(node), noExecute: noExecute.length === 0 ? NO_TAINTS : noExecute };
}
