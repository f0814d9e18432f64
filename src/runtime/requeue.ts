/** A sync that has nothing to complain about but must be tried again, later each time. */

/**
 * Thrown by a reconcile that waits for something it can't be told of: the key comes back as after
 * an error (its delay grows), but nobody is alarmed.
 */
export class NotYet extends Error {
  constructor(because: string) {
    super(because);
    this.name = 'NotYet';
  }
}

/** Thrown if the caches don't show yet what this controller wrote: deciding now would repeat it. */
export class StaleCache extends NotYet {
  constructor(because: string) {
    super(because);
    this.name = 'StaleCache';
  }
}
