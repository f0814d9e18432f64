/** What happens to connections: cut, slow, half-open, refused, answers lost. */
import { eventually } from '../rig/index.ts';
import { between, LEASE_LOST_MS, lasting, type Trouble } from './stand.ts';

const CUT_AFTER_BYTES_MAX = 12_000;

/** By name. */
export const WIRE_TROUBLES: Readonly<Record<string, Trouble>> = {
  'connections cut': async (scene) => {
    for (let cut = between(scene.random, 1, 5); cut > 0; cut--) {
      scene.wire.cut();
      await lasting(scene, 20, 600);
    }
  },
  'answers cut in the middle': async (scene) => {
    for (let cut = between(scene.random, 1, 4); cut > 0; cut--) {
      const bytes = between(scene.random, 1, CUT_AFTER_BYTES_MAX);
      const before = scene.wire.traffic.down;
      scene.wire.cutAfter(bytes);
      await eventually(() => scene.wire.traffic.down >= before + bytes, { everyMs: 10 });
    }
  },
  slow: async (scene) => {
    scene.wire.delay(between(scene.random, 10, 300));
    await lasting(scene, 500, 4_000);
    scene.wire.delay(0);
  },
  'answers kept back': async (scene) => {
    scene.wire.hold();
    await lasting(scene, 200, 3_000);
    scene.wire.release();
  },
  'answers lost': async (scene) => {
    scene.wire.hold();
    await lasting(scene, 100, 1_500);
    scene.wire.cut();
    scene.wire.release();
  },
  'half open': async (scene) => {
    scene.wire.swallow();
    await lasting(scene, 500, 3_000);
    scene.wire.release();
    scene.wire.cut();
  },
  'half open until the Lease is lost': async (scene) => {
    scene.wire.swallow();
    await lasting(scene, LEASE_LOST_MS, LEASE_LOST_MS + 2_000);
    scene.wire.release();
    scene.wire.cut();
  },
  refused: async (scene) => {
    await scene.wire.refuse();
    await lasting(scene, 200, 6_000);
    await scene.wire.accept();
  },
};
