/**
 * packaging/kubernetes on a real kubelet: static-pod.yaml as it is, in an image made as Containerfile
 * says. `make e2e` runs this in namespaces of its own; elsewhere it is skipped.
 */
import { describe, setDefaultTimeout, test } from 'bun:test';
import { OBSTACLE } from './machine.ts';
import { managerIsStaticPod } from './static-pod.ts';

setDefaultTimeout(600_000);

if (OBSTACLE !== '') console.log(`skipped: Holdfast as a static pod (${OBSTACLE})`);

describe.skipIf(OBSTACLE !== '')('packaging/kubernetes', () => {
  test('a static pod takes over from KCM, is killed, and gives back', managerIsStaticPod);
});
