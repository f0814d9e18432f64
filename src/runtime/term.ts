/** Terms of leading (leaseTransitions): whose remembered rows may be trusted. */

/** A term, and since when only processes on this very state have led. */
export interface OwnTerms {
  /** leaseTransitions now; 0 without election. */
  readonly term: number;
  /** First term of the unbroken line that ends with `term`. */
  readonly since: number;
}

/**
 * True if rows of `rowTerm` may be taken over: nobody else led since they were written. A process
 * that died before it had taken them over leaves them with the term of an earlier one.
 */
export function isOwnTerm(rowTerm: number, { term, since }: OwnTerms): boolean {
  return since <= rowTerm && rowTerm <= term;
}
