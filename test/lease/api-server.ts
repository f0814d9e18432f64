/** One Lease of a simulated API server, and a network to it that delays, loses and answers late. */
import { ApiError, TransportError } from '../../src/api/errors.ts';
import type { Lease } from '../../src/api/types/index.ts';
import type { KubeClient } from '../../src/kube/types.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Random } from '../../src/runtime/random.ts';

/** The stored Lease: optimistic concurrency as on the real server. */
export class LeaseServer {
  lease: Lease | undefined;
  #version = 0;

  read(): Lease {
    if (this.lease === undefined) throw answer(404, 'NotFound');
    return this.lease;
  }

  create(body: object): Lease {
    if (this.lease !== undefined) throw answer(409, 'AlreadyExists');
    return this.#store(body as Lease, `lease-${++this.#version}`);
  }

  update(body: object): Lease {
    const stored = this.read();
    const sent = body as Lease;
    const stale = sent.metadata.resourceVersion !== stored.metadata.resourceVersion;
    if (stale || sent.metadata.uid !== stored.metadata.uid) throw answer(409, 'Conflict');
    return this.#store(sent, stored.metadata.uid);
  }

  delete(): void {
    this.lease = undefined;
  }

  #store(body: Lease, uid: string): Lease {
    const metadata = { ...body.metadata, uid, resourceVersion: String(++this.#version) };
    this.lease = structuredClone({ ...body, metadata });
    return this.lease;
  }
}

/** How bad a network is: chances between 0 and 1. */
export interface Weather {
  /** A request never arrives. */
  readonly lost: number;
  /** It is carried out and the answer never comes. */
  readonly unanswered: number;
  /** It is carried out seconds later, long after its sender gave up. */
  readonly late: number;
}

export const FAIR: Weather = { lost: 0, unanswered: 0, late: 0 };
const QUICK_MS = 15;
const LATE_MS = 6_000;

/**
 * A client over `server`. Requests under way are carried out even if their sender dies. While
 * `cut()` nothing arrives, and no answer does.
 */
export function simulatedClient(
  server: LeaseServer,
  world: Clock,
  random: Random,
  weather: () => Weather,
  cut: () => boolean,
  senderAlive: () => boolean,
): KubeClient {
  const call = <T>(carryOut: () => T, signal?: AbortSignal): Promise<T> =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new TransportError('aborted')));
      const { lost, unanswered, late } = weather();
      const draw = random.next();
      const isLate = draw >= lost + unanswered && draw < lost + unanswered + late;
      world.after(random.next() * (isLate ? LATE_MS : QUICK_MS), () => {
        if (cut() || draw < lost) return;
        let settle: () => void;
        try {
          const value = structuredClone(carryOut());
          settle = () => resolve(value);
        } catch (error) {
          settle = () => reject(error);
        }
        world.after(random.next() * QUICK_MS, () => {
          if (!cut() && senderAlive() && draw >= lost + unanswered) settle();
        });
      });
    });
  const verbs = {
    get: (_resource: object, _at: object, options?: { signal?: AbortSignal }) =>
      call(() => server.read(), options?.signal),
    create: (_resource: object, _at: object, body: object, options?: { signal?: AbortSignal }) =>
      call(() => server.create(body), options?.signal),
    update: (_resource: object, _at: object, body: object, options?: { signal?: AbortSignal }) =>
      call(() => server.update(body), options?.signal),
  };
  return verbs as unknown as KubeClient;
}

function answer(code: number, reason: string): ApiError {
  return new ApiError(code, reason, { reason } as ApiError['status']);
}
