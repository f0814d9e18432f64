/** Who measures which names of a quota, and how: one evaluator for each resource. */
import { resourceId } from '../../api/resource.ts';
import type { KubeObject } from '../../api/types/index.ts';
import type { Informer, ObjectRecord } from '../../runtime/informer/types.ts';
import { countName } from './amounts.ts';
import type { Charge } from './charge.ts';

/** Names by which objects were counted before there was "count/...". */
const OLD_NAMES: Readonly<Record<string, string>> = {
  configmaps: 'configmaps',
  resourcequotas: 'resourcequotas',
  replicationcontrollers: 'replicationcontrollers',
  secrets: 'secrets',
};

/** Measures the objects of one resource. */
export interface Evaluator {
  /** resourceId, e.g. "pods". */
  readonly resource: string;
  /** True for a name that it measures. */
  measures(name: string): boolean;
  readonly informer: Informer<KubeObject, ObjectRecord>;
  /**
   * The price of one object by its record; undefined if it is gone. Absent: every object costs one
   * of each name, and no scope knows it.
   */
  readonly price?: (record: ObjectRecord) => Charge | undefined;
  /** A price depends on other objects as well, so it is not remembered. */
  readonly isVolatile?: boolean;
  /** The names of an evaluator that only counts. */
  readonly names?: readonly string[];
}

/** Counts the objects of a resource. */
export function counting(informer: Informer<KubeObject, ObjectRecord>): Evaluator {
  const resource = resourceId(informer.resource);
  const old = OLD_NAMES[resource];
  const names = [countName(resource), ...(old === undefined ? [] : [old])];
  return { resource, informer, names, measures: (name) => names.includes(name) };
}
