/** Writing the slices of one owner: creates, updates, deletes, ending at the first error. */
import {
  ApiError,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  TransportError,
} from '../../../api/errors.ts';
import { apiVersionOf, ENDPOINT_SLICES } from '../../../api/resource.ts';
import type { EndpointSlice, ObjectMeta } from '../../../api/types/index.ts';
import type { BecauseOptions, ExactCreates, SyncRun } from '../../../runtime/controller.ts';
import { StepError } from '../steps.ts';
import { slicePrefix } from './names.ts';
import { portsKey } from './ports.ts';
import type { SliceTracker } from './tracker.ts';

/** A slice as it is to be: without a name if it is new, with that of a stored one otherwise. */
export type SliceBody = Omit<EndpointSlice, 'metadata'> & {
  readonly metadata: Partial<ObjectMeta>;
};

/** What is to be written, and why. */
export interface SliceWrites {
  readonly create: readonly { readonly body: SliceBody; readonly because: string }[];
  /** The body names the slice, its UID and the version that was looked at. */
  readonly update: readonly { readonly body: SliceBody; readonly because: string }[];
  readonly remove: readonly { readonly slice: EndpointSlice; readonly because: string }[];
}

/** The Service or Endpoints that slices belong to. */
export interface SliceOwner {
  readonly kind: 'Service' | 'Endpoints';
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The ports that writing goes through. */
export interface SlicePorts {
  readonly creates: ExactCreates;
  readonly tracker: SliceTracker;
  /** Is told of each write that was made. */
  changed(operation: 'create' | 'update' | 'delete'): void;
}

/**
 * Carries writes out. False if the namespace is going away, so that nothing more was tried. Throws
 * what the server refuses in upstream's words.
 */
export async function writeSlices(
  ports: SlicePorts,
  run: SyncRun,
  owner: SliceOwner,
  writes: SliceWrites,
): Promise<boolean> {
  for (const [at, { body, because }] of writes.create.entries()) {
    if (!(await createSlice(ports, run, owner, at, body, because))) return false;
  }
  for (const { body, because } of writes.update) {
    await updateSlice(ports, run, owner, body, because);
  }
  for (const { slice, because } of writes.remove) {
    await removeSlice(ports, run, owner, slice, because);
  }
  return true;
}

async function createSlice(
  { creates, tracker, changed }: SlicePorts,
  run: SyncRun,
  owner: SliceOwner,
  at: number,
  body: SliceBody,
  because: string,
): Promise<boolean> {
  const ports = portsKey(body.ports);
  try {
    const { object, found } = await creates.create<EndpointSlice>(run, {
      resource: ENDPOINT_SLICES,
      namespace: owner.namespace,
      ownerUid: owner.uid,
      slot: `${body.addressType} ${at} ${ports}`,
      ofSlot: (found) => isOf(found as EndpointSlice, body.addressType, ports),
      generateName: slicePrefix(owner.name),
      body,
      because,
      guard: guardOf(owner),
    });
    if (found) tracker.found(owner.key, object);
    else {
      tracker.wrote(owner.key, object);
      changed('create');
    }
    return true;
  } catch (error) {
    if (isNamespaceTerminating(error)) return false;
    throw inWords(error, `failed to create EndpointSlice for ${nameOf(owner)}`);
  }
}

/** A slice may hold other endpoints by now, but addresses and ports of other kinds never. */
function isOf(slice: EndpointSlice, addressType: string, ports: string): boolean {
  return slice.addressType === addressType && portsKey(slice.ports) === ports;
}

async function updateSlice(
  { tracker, changed }: SlicePorts,
  run: SyncRun,
  owner: SliceOwner,
  body: SliceBody,
  because: string,
): Promise<void> {
  const at = { namespace: owner.namespace, name: body.metadata.name ?? '' };
  const options = { because, guard: guardOf(owner) };
  try {
    const stored = await run.client.update<EndpointSlice>(ENDPOINT_SLICES, at, body, options);
    tracker.wrote(owner.key, stored);
    changed('update');
  } catch (error) {
    throw inWords(error, `failed to update ${at.name} EndpointSlice for ${nameOf(owner)}`);
  }
}

/** Deletes a slice; one that is gone already is no error. `verb` begins the error's words. */
export async function removeSlice(
  { tracker, changed }: SlicePorts,
  run: SyncRun,
  owner: SliceOwner,
  slice: EndpointSlice,
  because: string,
  verb = 'failed to delete',
): Promise<void> {
  const { namespace, name, uid } = slice.metadata;
  // Noted first, for the event may be here before the answer.
  const undo = tracker.deleting(owner.key, uid);
  try {
    await run.client.delete(ENDPOINT_SLICES, { namespace, name }, { because, uid });
    changed('delete');
  } catch (error) {
    // A conflict means that another slice has this name now: the one meant is gone.
    if (isNotFound(error) || isConflict(error)) return;
    undo();
    throw inWords(error, `${verb} ${name} EndpointSlice for ${nameOf(owner)}`);
  }
}

/** The fields that every slice's body starts with. */
export const SLICE_TYPE = Object.freeze({
  apiVersion: apiVersionOf(ENDPOINT_SLICES),
  kind: ENDPOINT_SLICES.kind,
});

function guardOf({ key, uid }: SliceOwner): BecauseOptions['guard'] {
  return { ownerKey: key, ownerUid: uid };
}

function nameOf({ kind, namespace, name }: SliceOwner): string {
  return `${kind} ${namespace}/${name}`;
}

/** Refusals are told with what was tried; a lost Lease and our own mistakes go on as they are. */
function inWords(error: unknown, what: string): unknown {
  if (!(error instanceof ApiError || error instanceof TransportError)) return error;
  return new StepError(`${what}: ${error.message}`, error);
}
