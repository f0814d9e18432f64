/**
 * Creating objects with generated names exactly once, as pod control does for pods: the name is
 * chosen here in the server's way, the intent is committed before the call, and what an earlier
 * attempt left open is taken up again instead of made a second time.
 */
import { followsServerError, isAlreadyExists, isDefiniteAnswer } from '../api/errors.ts';
import { resourceId } from '../api/resource.ts';
import type { KubeObject } from '../api/types/index.ts';
import type { ExactCreates, GeneratedCreation, SyncRun } from './controller.ts';
import { findOurs } from './find-one.ts';
import type { Intents } from './intents.ts';
import { NAME_COLLISIONS_MAX } from './limits.ts';
import { generatedName } from './pod-control.ts';
import type { IntentRow } from './ports.ts';
import type { Random } from './random.ts';

export interface ExactCreatesDeps {
  readonly intents: Intents;
  readonly random: Random;
}

/** The creates of one controller. */
export function createExactCreates(deps: ExactCreatesDeps): ExactCreates {
  return new Creates(deps);
}

class Creates implements ExactCreates {
  readonly #deps: ExactCreatesDeps;

  constructor(deps: ExactCreatesDeps) {
    this.#deps = deps;
  }

  async create<T extends KubeObject>(
    run: SyncRun,
    creation: GeneratedCreation,
  ): Promise<{ readonly object: T; readonly found: boolean }> {
    const { intents } = this.#deps;
    for (let attempt = 0; ; attempt++) {
      const intent = this.#announce(creation);
      await run.barrier();
      try {
        const object = await this.#send<T>(run, creation, intent.name);
        intents.settle(intent);
        return { object, found: false };
      } catch (error) {
        if (followsServerError(error)) intents.doubt(intent);
        if (!isAlreadyExists(error) || attempt >= NAME_COLLISIONS_MAX) {
          if (isDefiniteAnswer(error)) intents.refused(intent);
          else intents.leaveOpen(intent);
          throw error;
        }
        const mayBeDone = intents.mayBeDone(intent);
        const object = mayBeDone ? await this.#findOurs<T>(run, creation, intent) : undefined;
        intents.settle(intent);
        if (object !== undefined) return { object, found: true };
      }
    }
  }

  #announce({ resource, namespace, ownerUid, slot, generateName }: GeneratedCreation): IntentRow {
    const place = { ownerUid, slot, resource: resourceId(resource), namespace };
    const { intents, random } = this.#deps;
    return intents.announceCreate(place, () => generatedName(generateName, random));
  }

  async #send<T extends KubeObject>(
    run: SyncRun,
    { resource, namespace, generateName, body, because, guard }: GeneratedCreation,
    name: string,
  ): Promise<T> {
    const metadata = { ...body.metadata, namespace, name, generateName };
    const options = guard === undefined ? { because } : { because, guard };
    return await run.client.create<T>(resource, { namespace }, { ...body, metadata }, options);
  }

  /** The name is taken: by what an earlier attempt of ours made, or by a stranger. */
  async #findOurs<T extends KubeObject>(
    run: SyncRun,
    { resource, namespace, ownerUid, ofSlot }: GeneratedCreation,
    intent: IntentRow,
  ): Promise<T | undefined> {
    const ours = { namespace, name: intent.name, ownerUid, ...(ofSlot && { ofSlot }) };
    try {
      return await findOurs<T>(run.client, resource, ours);
    } catch (error) {
      this.#deps.intents.leaveOpen(intent);
      throw error;
    }
  }
}
