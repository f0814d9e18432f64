/**
 * The compiled Holdfast over real nodes: containerd and kubelets run real containers. `make e2e`
 * runs this in namespaces of its own; elsewhere it is skipped.
 */
import { afterAll, beforeAll, describe, setDefaultTimeout, test } from 'bun:test';
import { jobsAreRetried } from './jobs.ts';
import { killedInTheMiddle } from './kills.ts';
import { nodeIsLost } from './loss.ts';
import { OBSTACLE } from './machine.ts';
import { daemonSetOnEachNode, deploymentRollsOver, statefulSetInOrder } from './rollouts.ts';
import { play, type Stage, setStage } from './stage.ts';

setDefaultTimeout(600_000);

if (OBSTACLE !== '') console.log(`skipped: containers on real nodes (${OBSTACLE})`);

describe.skipIf(OBSTACLE !== '')('real containers', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage?.cluster.stop());

  test('a Deployment rolls over, sticks at a broken version, and goes back', () =>
    play(stage, deploymentRollsOver));
  test('a StatefulSet comes up and rolls over in order', () => play(stage, statefulSetInOrder));
  test('a DaemonSet has a pod on each node', () => play(stage, daemonSetOnEachNode));
  test('Jobs are retried, fail and succeed by exit codes', () => play(stage, jobsAreRetried));
  test('kill -9 in the middle of a rollout makes nothing twice', () =>
    play(stage, killedInTheMiddle));
  test('a node is killed: its pods move, and it comes back', () => play(stage, nodeIsLost));
});
