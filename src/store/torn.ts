/**
 * Resources of which the disk may lack rows, because it failed while more had changed than memory
 * may hold.
 */

/**
 * `lost`: some rows are missing. `relisting`: the caller dropped the resource after that and puts
 * everything anew. `pointed`: it has set a resume point after that, not yet committed.
 */
type TornState = 'lost' | 'relisting' | 'pointed';

/** Which resources are torn, and how far each is on its way back. */
export class TornResources {
  readonly #states = new Map<string, TornState>();

  tear(resource: string): void {
    this.#states.set(resource, 'lost');
  }

  has(resource: string): boolean {
    return this.#states.has(resource);
  }

  names(): string[] {
    return [...this.#states.keys()].sort();
  }

  /** The caller dropped the resource: what it puts from now on is complete. */
  dropped(resource: string): void {
    if (this.#states.has(resource)) this.#states.set(resource, 'relisting');
  }

  /** False if a resume point would be ahead of the rows. */
  acceptsPoint(resource: string): boolean {
    return this.#states.get(resource) !== 'lost';
  }

  pointed(resource: string): void {
    if (this.#states.get(resource) === 'relisting') this.#states.set(resource, 'pointed');
  }

  /** Everything put so far is on disk: what has its resume point is whole again. */
  committed(): void {
    for (const [resource, state] of this.#states) {
      if (state === 'pointed') this.#states.delete(resource);
    }
  }
}
