import { expect, test } from 'bun:test';
import { secretNamesOf } from './pod-secrets.ts';
import type { Pod } from './types/index.ts';

const metadata = { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '1' };
const container = { name: 'c' };

test('Secrets are found wherever a pod names them', () => {
  const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
  const ref = (name: string) => ({ secretRef: { name } });
  const volumes = [
    { azureFile: { secretName: 'azure', shareName: 's' } },
    { cephfs: { ...ref('ceph'), monitors: [] } },
    { cinder: { ...ref('cinder'), volumeID: 'v' } },
    { flexVolume: { ...ref('flex'), driver: 'd' } },
    { projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'no' } }] } },
    { rbd: { ...ref('rbd'), image: 'i', monitors: [] } },
    { secret: { secretName: 'volume' } },
    { scaleIO: { ...ref('scale'), gateway: 'g', system: 's' } },
    { iscsi: { ...ref('iscsi'), iqn: 'i', lun: 0, targetPortal: 't' } },
    { storageos: ref('storageos') },
    { csi: { driver: 'd', nodePublishSecretRef: { name: 'csi' } } },
    { configMap: { name: 'no' } },
    { secret: {} },
  ].map((source, at) => ({ name: `v${at}`, ...source }));
  const spec = {
    imagePullSecrets: [{ name: 'pull' }, {}, { name: '' }],
    initContainers: [{ ...container, env: env('init') }],
    containers: [{ ...container, envFrom: [ref('all'), { configMapRef: { name: 'no' } }] }],
    ephemeralContainers: [{ ...container, env: env('debug') }],
    volumes,
  };
  expect([...secretNamesOf({ metadata, spec } as Pod)].sort()).toEqual(
    [
      ...['pull', 'init', 'all', 'debug', 'azure', 'ceph', 'cinder', 'flex', 'projected', 'rbd'],
      ...['volume', 'scale', 'iscsi', 'storageos', 'csi'],
    ].sort(),
  );
});

test('a pod without a spec names none', () => {
  expect(secretNamesOf({ metadata })).toEqual([]);
});
