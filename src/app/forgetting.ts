/** Does what `holdfast state forget` asks of the running process. */
import type { Clock } from '../runtime/clock.ts';
import { FORGET_LOOK_INTERVAL_MS, FORGET_RELIST_WAIT_MS } from '../runtime/limits.ts';
import type { Logger } from '../runtime/log.ts';
import {
  type ForgetAnswer,
  leaveForgetAnswer,
  type OpenedStore,
  takeForgetRequest,
} from '../store/index.ts';
import type { Leadership } from './leadership.ts';

export interface ForgettingDeps {
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly opened: OpenedStore;
  readonly leadership: Pick<Leadership, 'forget' | 'forgetAll'>;
}

type Outcome = Omit<ForgetAnswer, 'id'>;

/** Looks for requests every second until the signal aborts, and answers one after the other. */
export function answerForgetRequests(deps: ForgettingDeps, signal: AbortSignal): void {
  const again = (): void => {
    deps.clock.after(FORGET_LOOK_INTERVAL_MS, () => void look(), { background: true });
  };
  const look = async (): Promise<void> => {
    if (signal.aborted) return;
    try {
      const request = takeForgetRequest(deps.dir);
      if (request !== undefined) {
        const outcome = await forget(deps, request.resource, signal);
        leaveForgetAnswer(deps.dir, { id: request.id, ...outcome });
      }
    } catch (error) {
      deps.log.error('Forgetting a part of the state failed', error);
    }
    again();
  };
  again();
}

async function forget(
  deps: ForgettingDeps,
  resource: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const known = storedResources(deps.opened);
  if (resource !== '' && !known.includes(resource)) {
    const problem = `nothing is stored of ${resource}; stored are ${known.join(', ') || 'none'}`;
    return { resources: [], listed: false, problem };
  }
  const { clock, leadership, log, opened } = deps;
  const resources = resource === '' ? known : [resource];
  log.info('Forgetting a part of the state: it was asked for', { resources });
  note(deps, resource === '' ? 'everything' : resource);
  const bound = new AbortController();
  const done = resource === '' ? leadership.forgetAll(known) : leadership.forget(resource);
  const listed = await Promise.race([
    done.then(() => true),
    clock
      .sleep(FORGET_RELIST_WAIT_MS, AbortSignal.any([signal, bound.signal]))
      .then(() => bound.signal.aborted),
  ]);
  bound.abort();
  opened.store.commit();
  return { resources, listed, problem: '' };
}

function storedResources(opened: OpenedStore): string[] {
  const inspector = opened.inspector();
  try {
    return inspector.watches(0).map(({ resource }) => resource);
  } finally {
    inspector.close();
  }
}

function note({ clock, opened }: ForgettingDeps, what: string): void {
  opened.store.journal({
    controller: 'holdfast',
    key: '',
    startedAt: clock.now(),
    durationMs: 0,
    outcome: 'ok',
    error: '',
    because: `forgot ${what}: holdfast state forget asked for it`,
    writes: [],
  });
}
