/**
 * What the API server fills into a pod template that leaves things out. Controllers never need it
 * for objects they read; stored revisions of a template may be older than some of the defaults.
 */
import { defaultPullPolicy } from './image-name.ts';
import type { Container, PodSpec, PodTemplateSpec, Probe, Volume } from './types/index.ts';

type Fields = Readonly<Record<string, unknown>>;

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;
const GRACE_SECONDS = 30;

/** The object with these fields where it has none, "" or 0; absent stays absent. */
function filled<T extends object>(object: T | undefined, defaults: Fields): T | undefined {
  if (object === undefined) return undefined;
  const missing = Object.entries(defaults).filter(([key]) => !(object as Fields)[key]);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** As `filled`, but only what is really absent: for optional fields, where 0 and "" are values. */
function completed<T extends object>(object: T | undefined, defaults: Fields): T | undefined {
  if (object === undefined) return undefined;
  const missing = Object.entries(defaults).filter(([key]) => (object as Fields)[key] === undefined);
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) };
}

/** The object with some of its fields changed; those that become undefined were so before. */
function changed<T extends object>(object: T, changes: Fields): T {
  const real = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...object, ...Object.fromEntries(real) };
}

function withFieldVersions<T extends { readonly fieldRef?: object }>(
  items: readonly T[] | undefined,
): readonly T[] | undefined {
  return items?.map((item) =>
    changed(item, { fieldRef: filled(item.fieldRef, { apiVersion: 'v1' }) }),
  );
}

function probeWithDefaults(probe: Probe | undefined): Probe | undefined {
  const full = filled(probe, {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  return (
    full &&
    changed(full, {
      httpGet: filled(full.httpGet, { path: '/', scheme: 'HTTP' }),
      grpc: completed(full.grpc, { service: '' }),
    })
  );
}

function handlerWithDefaults<T extends { readonly httpGet?: object }>(handler: T | undefined) {
  return (
    handler && changed(handler, { httpGet: filled(handler.httpGet, { path: '/', scheme: 'HTTP' }) })
  );
}

function envWithDefaults(env: Container['env']): Container['env'] {
  return env?.map((variable) => {
    const { valueFrom } = variable;
    if (valueFrom === undefined) return variable;
    const fieldRef = filled(valueFrom.fieldRef, { apiVersion: 'v1' });
    const fileKeyRef = completed(valueFrom.fileKeyRef, { optional: false });
    return { ...variable, valueFrom: changed(valueFrom, { fieldRef, fileKeyRef }) };
  });
}

function containerWithDefaults<C extends Container>(container: C): C {
  const full =
    filled(container, {
      imagePullPolicy: defaultPullPolicy(container.image ?? ''),
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    }) ?? container;
  const { lifecycle } = full;
  return changed(full, {
    ports: full.ports?.map((port) => filled(port, { protocol: 'TCP' })),
    env: envWithDefaults(full.env),
    livenessProbe: probeWithDefaults(full.livenessProbe),
    readinessProbe: probeWithDefaults(full.readinessProbe),
    startupProbe: probeWithDefaults(full.startupProbe),
    lifecycle:
      lifecycle &&
      changed(lifecycle, {
        postStart: handlerWithDefaults(lifecycle.postStart),
        preStop: handlerWithDefaults(lifecycle.preStop),
      }),
  });
}

function projectedWithDefaults(projected: Volume['projected']): Volume['projected'] {
  const full = completed(projected, { defaultMode: FILE_MODE });
  return (
    full &&
    changed(full, {
      sources: full.sources?.map((source) =>
        changed(source, {
          serviceAccountToken: completed(source.serviceAccountToken, {
            expirationSeconds: TOKEN_SECONDS,
          }),
          downwardAPI:
            source.downwardAPI &&
            changed(source.downwardAPI, { items: withFieldVersions(source.downwardAPI.items) }),
        }),
      ),
    })
  );
}

function ephemeralWithDefaults(ephemeral: Volume['ephemeral']): Volume['ephemeral'] {
  const template = ephemeral?.volumeClaimTemplate;
  if (template === undefined) return ephemeral;
  const spec = completed(template.spec, { volumeMode: 'Filesystem' });
  return { ...ephemeral, volumeClaimTemplate: changed(template, { spec }) };
}

function volumeWithDefaults(volume: Volume): Volume {
  const withoutSource = Object.entries(volume).every(
    ([key, value]) => key === 'name' || value === undefined,
  );
  if (withoutSource) return { ...volume, emptyDir: {} };
  const { downwardAPI, image } = volume;
  return changed(volume, {
    hostPath: completed(volume.hostPath, { type: '' }),
    secret: completed(volume.secret, { defaultMode: FILE_MODE }),
    configMap: completed(volume.configMap, { defaultMode: FILE_MODE }),
    downwardAPI:
      downwardAPI &&
      changed(completed(downwardAPI, { defaultMode: FILE_MODE }) ?? downwardAPI, {
        items: withFieldVersions(downwardAPI.items),
      }),
    projected: projectedWithDefaults(volume.projected),
    ephemeral: ephemeralWithDefaults(volume.ephemeral),
    image: filled(image, { pullPolicy: defaultPullPolicy(image?.reference ?? '') }),
    iscsi: filled(volume.iscsi, { iscsiInterface: 'default' }),
    rbd: filled(volume.rbd, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
    azureDisk: completed(volume.azureDisk, {
      cachingMode: 'ReadWrite',
      fsType: 'ext4',
      readOnly: false,
      kind: 'Shared',
    }),
    scaleIO: filled(volume.scaleIO, { storageMode: 'ThinProvisioned', fsType: 'xfs' }),
  });
}

function specWithDefaults(spec: PodSpec): PodSpec {
  const full =
    completed(
      filled(spec, {
        dnsPolicy: 'ClusterFirst',
        restartPolicy: 'Always',
        schedulerName: 'default-scheduler',
      }),
      { securityContext: {}, terminationGracePeriodSeconds: GRACE_SECONDS },
    ) ?? spec;
  return changed(full, {
    volumes: full.volumes?.map(volumeWithDefaults),
    initContainers: full.initContainers?.map(containerWithDefaults),
    containers: full.containers?.map(containerWithDefaults),
  });
}

/**
 * The template as the API server would give it back, all defaults of a pod template filled in.
 * Quantities finer than a thousandth are not rounded up, which the server does.
 */
export function templateWithDefaults(template: PodTemplateSpec): PodTemplateSpec {
  return template.spec === undefined
    ? template
    : { ...template, spec: specWithDefaults(template.spec) };
}
