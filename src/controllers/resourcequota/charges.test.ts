import { describe, expect, test } from 'bun:test';
import { quantityText } from '../../api/quantity.ts';
import type {
  DeviceClass,
  PersistentVolumeClaim,
  Pod,
  ResourceClaim,
  ScopeRequirement,
  Service,
} from '../../api/types/index.ts';
import { amountsAt, type Charge } from './charge.ts';
import { addExtended, deviceAmounts, ExtendedResources, isDeviceName } from './device-claims.ts';
import { isPodName, podCharge } from './pods.ts';
import { inScope } from './scopes.ts';
import { isServiceName, serviceCharge } from './services.ts';
import { claimCharge, isClaimName } from './volume-claims.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const meta = (more: object = {}) => {
  return { name: 'x', namespace: 'ns', uid: 'u', resourceVersion: '1', ...more };
};
const GATES = { inPlaceResize: true, podLevelResources: true };

function texts(amounts: ReadonlyMap<string, Parameters<typeof quantityText>[0]>) {
  return Object.fromEntries([...amounts].map(([name, one]) => [name, quantityText(one)]));
}

function used(charge: Charge, now = NOW) {
  return texts(amountsAt(charge, now));
}

type Spec = Partial<NonNullable<Pod['spec']>>;
function pod(spec: Spec, status: Pod['status'] = {}, metadata: object = {}): Pod {
  return { metadata: meta(metadata), spec: { containers: [], ...spec }, status };
}

function asking(requests: Record<string, string>, limits: Record<string, string> = {}, more = {}) {
  return { name: 'c', resources: { requests, limits }, ...more };
}

describe('pods cost', () => {
  test('themselves, compute as asked for and limited, under both names', () => {
    const one = pod({ containers: [asking({ cpu: '100m', memory: '1Gi' }, { cpu: '1' })] });
    expect(used(podCharge(one, GATES))).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '100m',
      'requests.cpu': '100m',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'limits.cpu': '1',
    });
  });

  test('ephemeral storage, huge pages and extended resources by their rules', () => {
    const asked = {
      'ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'example.com/gpu': '2',
      'deviceclass.resource.kubernetes.io/fast': '1',
      'kubernetes.io/odd': '5',
    };
    expect(used(podCharge(pod({ containers: [asking(asked)] }), GATES))).toEqual({
      'count/pods': '1',
      pods: '1',
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
      'requests.deviceclass.resource.kubernetes.io/fast': '1',
    });
  });

  test('the sum of containers or the largest init container, with overhead', () => {
    const one = pod({
      containers: [asking({ cpu: '1', memory: '10Mi' }), asking({ cpu: '500m' })],
      initContainers: [asking({ cpu: '2' }), asking({ memory: '1Mi' })],
      overhead: { cpu: '250m' },
    });
    expect(used(podCharge(one, GATES))).toMatchObject({ cpu: '2250m', memory: '10Mi' });
  });

  test('sidecars stay: they come on top of what runs after them', () => {
    const sidecar = asking({ cpu: '1' }, {}, { name: 's', restartPolicy: 'Always' });
    const one = pod({
      containers: [asking({ cpu: '1' })],
      initContainers: [asking({ cpu: '3' }), sidecar, asking({ cpu: '2500m' })],
    });
    expect(used(podCharge(one, GATES))).toMatchObject({ cpu: '3500m' });
  });

  test('what the kubelet reports, if that is more', () => {
    const status = (more: object) => ({
      containerStatuses: [
        { name: 'c', image: '', imageID: '', ready: true, restartCount: 0, ...more },
      ],
    });
    const containers = [asking({ cpu: '1' }, { cpu: '2' })];
    const resources = { requests: { cpu: '3' }, limits: { cpu: '4' } };
    const grown = pod({ containers }, status({ resources, allocatedResources: { cpu: '3500m' } }));
    expect(used(podCharge(grown, GATES))).toMatchObject({ cpu: '3500m', 'limits.cpu': '4' });
    const off = { ...GATES, inPlaceResize: false };
    expect(used(podCharge(grown, off))).toMatchObject({ cpu: '1', 'limits.cpu': '2' });
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
    const smaller = { requests: { cpu: '500m' }, limits: { cpu: '1' } };
    const never = pod({ containers }, { ...status({ resources: smaller }), conditions });
    expect(used(podCharge(never, GATES))).toMatchObject({ cpu: '500m', 'limits.cpu': '1' });
  });

  test('what the pod as a whole asks for replaces the sum', () => {
    const one = pod({
      containers: [asking({ cpu: '1', memory: '1Gi', 'example.com/gpu': '1' })],
      resources: { requests: { cpu: '5', 'example.com/gpu': '9' }, limits: { memory: '3Gi' } },
    });
    expect(used(podCharge(one, GATES))).toMatchObject({
      cpu: '5',
      memory: '1Gi',
      'limits.memory': '3Gi',
      'requests.example.com/gpu': '1',
    });
    expect(used(podCharge(one, { ...GATES, podLevelResources: false })).cpu).toBe('1');
  });

  test.each(['Succeeded', 'Failed'])('only themselves once %s', (phase) => {
    const one = pod({ containers: [asking({ cpu: '1' })] }, { phase });
    expect(used(podCharge(one, GATES))).toEqual({ 'count/pods': '1' });
  });

  test('only themselves when their grace is over, even if they hang', () => {
    const going = {
      deletionTimestamp: '2026-05-20T11:59:40Z',
      deletionGracePeriodSeconds: 20,
    };
    const charge = podCharge(pod({ containers: [asking({ cpu: '1' })] }, {}, going), GATES);
    expect(used(charge, NOW)).toMatchObject({ pods: '1', cpu: '1' });
    expect(used(charge, NOW + 1)).toEqual({ 'count/pods': '1' });
    const deletionGracePeriodSeconds = 9_223_372_036_854_775_807n as unknown as number;
    const longest = podCharge(pod({}, {}, { ...going, deletionGracePeriodSeconds }), GATES);
    expect(used(longest, NOW + 1)).toMatchObject({ pods: '1' });
  });

  test.each([
    ['pods', true],
    ['count/pods', true],
    ['requests.cpu', true],
    ['limits.ephemeral-storage', true],
    ['hugepages-1Gi', true],
    ['requests.hugepages-1Gi', true],
    ['requests.example.com/gpu', true],
    ['example.com/gpu', false],
    ['limits.example.com/gpu', false],
    ['requests.storage', false],
    ['requests.deviceclass.resource.kubernetes.io/x', true],
    ['count/deployments.apps', false],
  ])('%s is theirs: %p', (name, expected) => {
    expect(isPodName(name)).toBe(expected);
  });
});

describe('scopes choose', () => {
  const plain = podCharge(pod({}), GATES).facts;
  const named = podCharge(pod({ priorityClassName: 'high' }), GATES).facts;
  const busy = podCharge(pod({ containers: [asking({ cpu: '1' })] }), GATES).facts;
  const timed = podCharge(pod({ activeDeadlineSeconds: 0 }), GATES).facts;
  const selector = { matchLabels: {} };
  const term = { topologyKey: 'zone', namespaceSelector: selector };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  const far = podCharge(pod({ affinity }), GATES).facts;
  const claim = { volumeAttributesClasses: ['gold', 'silver'] };
  const by = (scopeName: string, operator = 'Exists', values: string[] = []): ScopeRequirement => {
    return { scopeName, operator, values };
  };

  test.each([
    ['Terminating', timed, plain],
    ['NotTerminating', plain, timed],
    ['BestEffort', plain, busy],
    ['NotBestEffort', busy, plain],
    ['PriorityClass', named, plain],
    ['CrossNamespacePodAffinity', far, plain],
    ['VolumeAttributesClass', claim, { volumeAttributesClasses: [] }],
  ])('by %s', (scope, yes, no) => {
    expect(inScope([by(scope)], yes)).toBe(true);
    expect(inScope([by(scope)], no)).toBe(false);
    expect(inScope([by(scope)], {})).toBe(false);
  });

  test('priority classes by name', () => {
    expect(inScope([by('PriorityClass', 'In', ['low', 'high'])], named)).toBe(true);
    expect(inScope([by('PriorityClass', 'In', ['low'])], named)).toBe(false);
    expect(inScope([by('PriorityClass', 'NotIn', ['low'])], named)).toBe(true);
    expect(inScope([by('PriorityClass', 'NotIn', ['low'])], plain)).toBe(true);
    expect(inScope([by('PriorityClass', 'DoesNotExist')], plain)).toBe(true);
    expect(inScope([by('PriorityClass', 'DoesNotExist')], named)).toBe(false);
    expect(inScope([by('PriorityClass', 'Odd')], named)).toBe(false);
  });

  test('a claim by any of its classes', () => {
    expect(inScope([by('VolumeAttributesClass', 'In', ['silver'])], claim)).toBe(true);
    expect(inScope([by('VolumeAttributesClass', 'In', ['iron'])], claim)).toBe(false);
    const none = { volumeAttributesClasses: [] };
    expect(inScope([by('VolumeAttributesClass', 'NotIn', ['iron'])], none)).toBe(true);
  });

  test('all must hold, and what is not known never does', () => {
    expect(inScope([], {})).toBe(true);
    expect(inScope([by('NotTerminating'), by('BestEffort')], plain)).toBe(true);
    expect(inScope([by('NotTerminating'), by('NotBestEffort')], plain)).toBe(false);
    expect(inScope([by('Unheard')], plain)).toBe(false);
  });

  test('the class that the API server gave counts', () => {
    const told = podCharge(pod({}, { qosClass: 'Burstable' }), GATES).facts;
    expect(inScope([by('BestEffort')], told)).toBe(false);
  });
});

describe('Services cost', () => {
  const ports = [{ port: 1 }, { port: 2, nodePort: 30_000 }];
  const cost = (spec: Service['spec']) => used(serviceCharge({ metadata: meta(), spec }));

  test.each([
    [{ type: 'ClusterIP', ports }, '0', '0'],
    [{ type: 'NodePort', ports }, '2', '0'],
    [{ type: 'LoadBalancer', ports }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: true }, '2', '1'],
    [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }, '1', '1'],
    [{ type: 'ExternalName' }, '0', '0'],
  ])('%j: %s node ports, %s balancers', (spec, nodePorts, balancers) => {
    expect(cost(spec)).toEqual({
      'count/services': '1',
      services: '1',
      'services.nodeports': nodePorts,
      'services.loadbalancers': balancers,
    });
  });

  test('under these names', () => {
    expect(['services', 'count/services', 'services.nodeports'].every(isServiceName)).toBe(true);
    expect(isServiceName('count/pods')).toBe(false);
  });
});

describe('volume claims cost', () => {
  const gates = { recoverExpansion: true, volumeAttributesClass: true };
  const claim = (spec: object, status: object = {}, more: object = {}): PersistentVolumeClaim => {
    return { metadata: meta(more), spec, status };
  };
  const storage = (text: string) => ({ requests: { storage: text } });

  test('themselves and their storage, also by class', () => {
    const one = claim({ storageClassName: 'gold', resources: storage('10Gi') });
    expect(used(claimCharge(one, gates))).toEqual({
      persistentvolumeclaims: '1',
      'count/persistentvolumeclaims': '1',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'requests.storage': '10Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
    });
  });

  test('the class of the annotation before that of the field', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'old' };
    const one = claim({ storageClassName: 'gold' }, {}, { annotations });
    expect(used(claimCharge(one, gates))).toHaveProperty([
      'old.storageclass.storage.k8s.io/persistentvolumeclaims',
    ]);
  });

  test('whole bytes, and what an expansion has set aside', () => {
    const one = claim(
      { resources: storage('1500m') },
      { allocatedResources: { storage: '2500m' } },
    );
    expect(used(claimCharge(one, gates))['requests.storage']).toBe('3');
    const off = { ...gates, recoverExpansion: false };
    expect(used(claimCharge(one, off))['requests.storage']).toBe('2');
    const shrunk = claim({ resources: storage('5') }, { allocatedResources: { storage: '3' } });
    expect(used(claimCharge(shrunk, gates))['requests.storage']).toBe('5');
  });

  test('and name the attribute classes they ask for, have, or get', () => {
    const one = claim(
      { volumeAttributesClassName: 'a' },
      {
        currentVolumeAttributesClassName: 'b',
        modifyVolumeStatus: { status: 'Pending', targetVolumeAttributesClassName: 'c' },
      },
    );
    expect(claimCharge(one, gates).facts.volumeAttributesClasses).toEqual(['a', 'b', 'c']);
    expect(claimCharge(claim({}), gates).facts.volumeAttributesClasses).toEqual([]);
    const off = { ...gates, volumeAttributesClass: false };
    expect(claimCharge(one, off).facts.volumeAttributesClasses).toBeUndefined();
  });

  test('under these names', () => {
    expect(isClaimName('gold.storageclass.storage.k8s.io/requests.storage')).toBe(true);
    expect(isClaimName('gold.storageclass.storage.k8s.io/other')).toBe(false);
    expect(isClaimName('requests.storage')).toBe(true);
  });
});

describe('device claims cost', () => {
  const device = (requests: readonly object[]): ResourceClaim => {
    return { metadata: meta(), spec: { devices: { requests } } } as unknown as ResourceClaim;
  };
  const exactly = (deviceClassName: string, allocationMode: string, count?: number) => {
    return { deviceClassName, allocationMode, count };
  };
  const gpu = 'gpu.deviceclass.resource.k8s.io/devices';
  const nic = 'nic.deviceclass.resource.k8s.io/devices';

  test('themselves and their devices by class', () => {
    const one = device([
      { name: 'a', exactly: exactly('gpu', 'ExactCount', 2) },
      { name: 'b', exactly: exactly('gpu', 'All') },
      { name: 'c', exactly: exactly('nic', 'Newer', 7) },
    ]);
    const expected = { 'count/resourceclaims.resource.k8s.io': '1', [gpu]: '34', [nic]: '0' };
    expect(texts(deviceAmounts(one))).toEqual(expected);
  });

  test('of alternatives the worst case, class by class', () => {
    const firstAvailable = [
      exactly('gpu', 'ExactCount', 1),
      exactly('gpu', 'ExactCount', 3),
      exactly('nic', 'ExactCount', 2),
    ];
    expect(texts(deviceAmounts(device([{ name: 'a', firstAvailable }])))).toEqual({
      'count/resourceclaims.resource.k8s.io': '1',
      [gpu]: '3',
      [nic]: '2',
    });
  });

  test('the extended resource of their class beyond what the pod pays', () => {
    const classes = [
      { metadata: meta({ name: 'gpu' }), spec: { extendedResourceName: 'example.com/gpu' } },
      { metadata: meta({ name: 'nic' }), spec: {} },
    ] as DeviceClass[];
    const extended = new ExtendedResources(classes);
    const amounts = deviceAmounts(
      device([{ name: 'a', exactly: exactly('gpu', 'ExactCount', 3) }]),
    );
    const ofPod = podCharge(pod({ containers: [asking({ 'example.com/gpu': '1' })] }), GATES);
    addExtended(amounts, extended, ofPod.amounts);
    expect(texts(amounts)).toEqual({
      'count/resourceclaims.resource.k8s.io': '1',
      [gpu]: '3',
      'requests.deviceclass.resource.kubernetes.io/gpu': '3',
      'requests.example.com/gpu': '2',
    });
    const names = (name: string) => isDeviceName(name, () => extended);
    expect(names('requests.example.com/gpu')).toBe(true);
    expect(names('requests.example.com/other')).toBe(false);
    expect(names('requests.deviceclass.resource.kubernetes.io/gpu')).toBe(true);
    expect(names('requests.deviceclass.resource.kubernetes.io/none')).toBe(false);
    expect(isDeviceName('requests.example.com/gpu', () => undefined)).toBe(false);
    expect(isDeviceName(nic, () => undefined)).toBe(true);
  });
});
