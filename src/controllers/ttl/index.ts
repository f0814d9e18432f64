/**
 * ttl-controller: tells each node by an annotation how long its kubelet may cache what pods refer
 * to; the more nodes, the longer. `decide.ts` says how long.
 */
import { NODES } from '../../api/resource.ts';
import type { Node } from '../../api/types/index.ts';
import type {
  Controller,
  ControllerContext,
  ControllerDefinition,
  ControllerMemory,
} from '../../runtime/controller.ts';
import {
  decide,
  STEP_COUNT,
  stepAfterAdd,
  stepAfterDelete,
  stepAfterRestart,
  TTL_ANNOTATION,
} from './decide.ts';

const WORKERS = 5;

/** The passport of the TTL controller for nodes. */
export const ttlController: ControllerDefinition = {
  name: 'ttl-controller',
  aliases: ['ttl'],
  gates: [],
  enabledByDefault: true,
  account: 'ttl-controller',
  watches: [NODES],
  writes: ['nodes patch'],
  flags: [],
  build,
};

function build(context: ControllerContext): Controller {
  const nodes = context.informers.of<Node>(NODES);
  const queue = context.queue('ttlcontroller');
  const size = new ClusterSize(context.memory<number>('step', STEP_TEXT));
  nodes.addHandler({
    add: ({ key }) => {
      size.added();
      queue.add(key);
    },
    update: ({ key }) => queue.add(key),
    delete: () => size.deleted(),
  });
  size.counted();
  return {
    queues: [
      {
        queue,
        workers: WORKERS,
        announcesNothing: true,
        reconcile: async (key, run) => {
          const node = nodes.lister.get(key);
          const wanted = node && decide(node, size.step);
          if (node === undefined || wanted === undefined) return;
          const { name, uid } = node.metadata;
          const annotations = { [TTL_ANNOTATION]: String(wanted.ttlSeconds) };
          const body = { metadata: { uid, annotations } };
          await run.client.patch(NODES, { name }, 'strategic', body, {
            because: wanted.because,
            metadataOnly: true,
          });
        },
      },
    ],
  };
}

const STEP_TEXT = {
  encode: (step: number): string => String(step),
  decode(text: string): number {
    const step = Number(text);
    if (Number.isInteger(step) && step >= 0 && step < STEP_COUNT) return step;
    throw new Error(`no step: ${text}`);
  },
};

/** The one thing remembered, about the cluster as a whole. */
const STEP_KEY = 'cluster';
const NO_UID = '';

/** How many nodes there are, and the step that came of it. */
class ClusterSize {
  readonly #memory: ControllerMemory<number>;
  #nodes = 0;
  #step: number;

  constructor(memory: ControllerMemory<number>) {
    this.#memory = memory;
    this.#step = memory.get(STEP_KEY, NO_UID) ?? 0;
  }

  get step(): number {
    return this.#step;
  }

  added(): void {
    this.#nodes++;
    this.#move(stepAfterAdd(this.#step, this.#nodes));
  }

  deleted(): void {
    this.#nodes--;
    this.#move(stepAfterDelete(this.#step, this.#nodes));
  }

  /** All stored nodes were added: those that went while nobody counted are missing now. */
  counted(): void {
    this.#move(stepAfterRestart(this.#step, this.#nodes));
  }

  #move(step: number): void {
    if (step === this.#step) return;
    this.#step = step;
    this.#memory.set(STEP_KEY, NO_UID, step);
  }
}
