/** What happens to requests: refused, failed, failed after they were done, lost, late; and to watches. */
import type { Fault, FaultRule } from '../rig/index.ts';
import { between, lasting, type Scene, type Trouble } from './stand.ts';

const WATCH = /[?&]watch=/;
const LIST = /^[^?]*\/[a-z]+\?(?!.*watch=).*limit=/;
const PROBE = /sendInitialEvents=true/;
const VERSIONED = /resourceVersion=\d/;
const LEASE = /\/leases\/kube-controller-manager/;
const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'];
/** Longest time that faults of a number wait for requests. */
const LASTS_MS = [500, 4_000] as const;

/** So many requests of these get the fault, until its time is over. */
async function faults(scene: Scene, rules: readonly FaultRule[]): Promise<void> {
  const ends = rules.map((rule) => scene.proxy.fail(rule));
  // Watches that are open would meet no fault for minutes.
  if (rules.some(({ path }) => path === WATCH || path === PROBE)) scene.proxy.cut();
  await lasting(scene, ...LASTS_MS);
  for (const end of ends) end();
}

function onWrites({ random }: Scene, most: number, fault: () => Fault): FaultRule[] {
  const method = WRITES[between(random, 0, WRITES.length)];
  const times = between(random, 1, most);
  if (method !== undefined) return [{ method, times, fault: fault() }];
  return WRITES.map((one) => ({ method: one, times, fault: fault() }));
}

function oneOf<T>({ random }: Scene, ...all: readonly T[]): T {
  return all[between(random, 0, all.length - 1)]!;
}

function writes(most: number, fault: (scene: Scene) => Fault): Trouble {
  return (scene) =>
    faults(
      scene,
      onWrites(scene, most, () => fault(scene)),
    );
}

function reads(path: RegExp, most: number, fault: (scene: Scene) => Fault): Trouble {
  return (scene) =>
    faults(scene, [
      { method: 'GET', path, times: between(scene.random, 1, most), fault: fault(scene) },
    ]);
}

/** By name. */
export const ANSWER_TROUBLES: Readonly<Record<string, Trouble>> = {
  '429 with Retry-After': (scene) =>
    faults(scene, [
      { times: between(scene.random, 1, 20), fault: { status: 429, retryAfterSeconds: 1 } },
    ]),
  '429 for writes': writes(8, () => ({ status: 429 })),
  '5xx for writes': writes(8, (scene) => ({ status: oneOf(scene, 500, 502, 503, 504) })),
  '5xx for reads': reads(/./, 8, (scene) => ({ status: oneOf(scene, 500, 502, 503, 504) })),
  '503 with Retry-After': (scene) =>
    faults(scene, [
      { times: between(scene.random, 1, 20), fault: { status: 503, retryAfterSeconds: 1 } },
    ]),
  '5xx for writes that were done': writes(5, (scene) => ({
    status: oneOf(scene, 500, 504),
    executed: true,
  })),
  '503 with Retry-After for writes that were done': writes(5, () => ({
    status: 503,
    retryAfterSeconds: 1,
    executed: true,
  })),
  '409 for writes': (scene) =>
    faults(
      scene,
      ['PUT', 'PATCH'].map((method) => ({
        method,
        times: between(scene.random, 1, 8),
        fault: { status: 409 },
      })),
    ),
  'writes cut before they were done': writes(5, () => ({ cut: 'unsent' })),
  'writes cut after they were done': writes(5, () => ({ cut: 'executed' })),
  'late writes': writes(5, (scene) => ({ delayMs: between(scene.random, 200, 2_500) })),
  '410 for lists': reads(LIST, 5, () => ({ status: 410 })),
  '410 for watches': reads(WATCH, 8, () => ({ status: 410 })),
  '410 in watches': reads(WATCH, 8, () => ({ watchError: 410 })),
  'errors in watches': reads(WATCH, 8, (scene) => ({ watchError: oneOf(scene, 429, 500, 504) })),
  'version too large': reads(VERSIONED, 8, () => ({
    status: 504,
    cause: 'ResourceVersionTooLarge',
    retryAfterSeconds: 1,
  })),
  'half lines in watches': reads(WATCH, 8, (scene) => ({
    halfLineAfter: between(scene.random, 0, 3),
  })),
  'probes not understood': reads(PROBE, 30, () => ({ status: 422 })),
  'probes that fail': reads(PROBE, 8, () => ({ watchError: 400 })),
  'silent watches': async (scene) => {
    scene.proxy.mute(oneOf(scene, WATCH, /\/pods\?/, /\/(replicasets|jobs|controllerrevisions)\?/));
    await lasting(scene, 300, 4_000);
    scene.proxy.unmute();
  },
  'errors for the Lease': (scene) =>
    faults(scene, [{ path: LEASE, fault: { status: oneOf(scene, 500, 503, 429) } }]),
};
