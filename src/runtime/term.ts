/** Terms of leading (leaseTransitions): whose remembered rows may be trusted. */

/**
 * True if rows of `rowTerm` may be taken over in `term`: this term's own (an election-less process
 * has one term for ever) or those of the directly previous one. In between somebody else led, and
 * what was remembered before says nothing any more.
 */
export function fromLastTerm(rowTerm: number, term: number): boolean {
  return rowTerm === term || rowTerm === term - 1;
}
