/** A Service in front of an app, and what both lists of its addresses must come to. */
import { eventually, notYet, type Obj } from '../rig/index.ts';
import type { Fields, World } from '../scenarios/world.ts';

/** A Service that selects the pods of an app, and has its name. */
export function serviceOf(app: string): Fields {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: app },
    spec: { selector: { app }, ports: [{ port: 80 }] },
  };
}

function isReady({ metadata, status }: Obj): boolean {
  const conditions: Obj[] = status?.conditions ?? [];
  const ready = conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True');
  return ready && metadata.deletionTimestamp === undefined;
}

const targets = (addresses: Obj[]): string =>
  `${addresses.map(({ targetRef }) => targetRef?.name).sort()}`;

/** Waits until the Endpoints and the slices of an app's Service name its ready pods and no others. */
export async function untilServed(world: World, app: string, timeoutMs: number): Promise<void> {
  const same = async (): Promise<true> => {
    const pods = (await world.list('pods')).filter(({ metadata }) => metadata.labels?.app === app);
    const wanted = `${pods
      .filter(isReady)
      .map(({ metadata }) => metadata.name)
      .sort()}`;
    const { subsets = [] } = await world.get('endpoints', app);
    const slices = (await world.list('endpointslices')).filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === app,
    );
    const endpoints = slices.flatMap((slice): Obj[] => slice.endpoints ?? []);
    const listed = {
      endpoints: targets(subsets.flatMap((subset: Obj) => subset.addresses ?? [])),
      slices: targets(endpoints.filter(({ conditions }) => conditions?.ready)),
    };
    if (listed.endpoints === wanted && listed.slices === wanted) return true;
    throw notYet({ wanted, ...listed });
  };
  await eventually(same, { timeoutMs, describe: `the addresses of the Service ${app}` });
}
