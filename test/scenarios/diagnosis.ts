/** What a person would look at when objects don't come to rest: told with the failure of a test. */
import type { HoldfastManager, Obj } from '../rig/index.ts';
import type { World } from './world.ts';

const LOG_LINES = 80;
const PAGES = ['lease', 'queues', 'watches', 'expectations', 'intents', 'own-writes', 'store'];
const NOISE = /"Skipping the controller"|This version does not have|"FLAG: /;

/** Owners, their sizes, pods that are not ready, what the process says about itself, and the end of its log. */
export async function diagnose(world: World, process: HoldfastManager): Promise<string> {
  const lines: string[] = [];
  for (const plural of ['deployments', 'replicasets']) {
    for (const object of await world.list(plural)) lines.push(summary(plural, object));
  }
  lines.push(...(await world.list('pods')).filter(isNotReady).map(podSummary));
  for (const page of PAGES) {
    try {
      const answer = await process.fetch(`/debug/holdfast/${page}`);
      lines.push(`${page}: ${await answer.text()}`);
    } catch (error) {
      lines.push(`${page}: ${error}`);
    }
  }
  const log = process.log().trimEnd().split('\n');
  lines.push(...log.filter((line) => !NOISE.test(line)).slice(-LOG_LINES));
  return lines.join('\n');
}

function isNotReady({ status }: Obj): boolean {
  const ready = status.conditions?.find((one: Obj) => one.type === 'Ready');
  return status.phase !== 'Succeeded' && ready?.status !== 'True';
}

function podSummary({ metadata, spec, status }: Obj): string {
  const { name, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const facts = { creationTimestamp, deletionTimestamp, node: spec.nodeName, phase: status.phase };
  return `pods ${name}: version ${resourceVersion} ${JSON.stringify(facts)}`;
}

function summary(plural: string, { metadata, spec, status }: Obj): string {
  const { name, resourceVersion, generation } = metadata;
  const counts = JSON.stringify({ ...status, conditions: undefined });
  return `${plural} ${name}: version ${resourceVersion} generation ${generation} replicas ${spec.replicas} ${counts}`;
}
