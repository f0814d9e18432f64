/** What is read of a Lease. */
import { type RecordFields, recordFields } from './record.ts';
import type { Lease } from './types/index.ts';

/** What `leaseRecordFields` gives: the record that the Lease informer holds. */
export interface LeaseRecordFields extends RecordFields {
  /** As the server writes it, always in UTC with six digits: texts compare as times. "" if unset. */
  readonly renewTime: string;
}

/** The record of a whole Lease. */
export function leaseRecordFields(lease: Lease): LeaseRecordFields {
  return { ...recordFields(lease), renewTime: lease.spec?.renewTime ?? '' };
}
