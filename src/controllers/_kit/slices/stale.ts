/** Errors of a sync that was not begun. */

/** The cache hasn't seen what the last sync of this owner wrote; the next try will. */
export class StaleCache extends Error {
  constructor(detail: string) {
    super(`EndpointSlice informer cache is out of date: ${detail}`);
    this.name = 'StaleCache';
  }
}
