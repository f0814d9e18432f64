/** From events of slices to the owners to be synced: what others did to them, not what we did. */
import { SERVICE_NAME_LABEL } from '../../../api/service.ts';
import type { EndpointSlice } from '../../../api/types/index.ts';
import type { Handler, Lister, ObjectRecord } from '../../../runtime/informer/types.ts';
import type { SliceTracker } from './tracker.ts';

export interface SliceTriggersOptions {
  readonly slices: Lister<EndpointSlice>;
  readonly tracker: SliceTracker;
  isManaged(labels: ObjectRecord['labels']): boolean;
  /** An owner's slices may be wrong. */
  changed(ownerKey: string): void;
  /** An owner of slices that were there at the start; absent: owners are synced then anyway. */
  found?(ownerKey: string): void;
}

/** Handler of slices, by upstream's rules. Keys are made of the slice's namespace and its label. */
export function sliceHandler(options: SliceTriggersOptions): Handler<ObjectRecord> {
  const { tracker, isManaged } = options;
  const changed = (record: ObjectRecord): void => {
    const key = ownerKeyOf(record);
    if (key !== undefined) options.changed(key);
  };
  return {
    add: (record, initial) => {
      const key = isManaged(record.labels) ? ownerKeyOf(record) : undefined;
      if (key === undefined) return;
      if (initial) options.found?.(key);
      else if (isNews(options, record)) options.changed(key);
    },
    update: (record, previous) => {
      if (record.labels[SERVICE_NAME_LABEL] !== previous.labels[SERVICE_NAME_LABEL]) {
        changed(record);
        changed(previous);
        return;
      }
      const managed = isManaged(record.labels);
      const moved = managed !== isManaged(previous.labels);
      if (moved || (managed && isNews(options, record))) changed(record);
    },
    delete: (record) => {
      const key = ownerKeyOf(record);
      if (key === undefined || !isManaged(record.labels)) return;
      if (tracker.knows(key, record.uid) && !tracker.gone(key, record.uid)) changed(record);
    },
  };
}

function ownerKeyOf({ namespace, labels }: ObjectRecord): string | undefined {
  const name = labels[SERVICE_NAME_LABEL];
  return name ? `${namespace}/${name}` : undefined;
}

function isNews({ slices, tracker }: SliceTriggersOptions, record: ObjectRecord): boolean {
  const key = ownerKeyOf(record) ?? '';
  if (!tracker.knows(key, record.uid)) return true;
  try {
    const slice = slices.get(record.key);
    return slice === undefined || tracker.isNews(key, slice);
  } catch {
    // The disk lost it: let the sync look, which has it fetched.
    return true;
  }
}
