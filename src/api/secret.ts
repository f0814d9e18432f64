/** Secrets that hold a token of a ServiceAccount, and what caches hold of any Secret. */
import { type RecordFields, recordFields } from './record.ts';
import type { Secret, ServiceAccount } from './types/index.ts';

/** Type of a Secret with a ServiceAccount's token. */
export const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token';
/** Annotations that name its ServiceAccount. */
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
export const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

/** The ServiceAccount that a token Secret names. */
export interface NamedAccount {
  /** "" if it names none. */
  readonly name: string;
  /** "" if it says no UID: then any account of that name is meant. */
  readonly uid: string;
}

/** What the Secret informer holds. */
export interface SecretRecordFields extends RecordFields {
  /** Undefined: it is no token Secret. */
  readonly tokenOf: NamedAccount | undefined;
}

/** A Secret as caches hold it: of its data only the names of the keys and a digest. */
export type CachedSecret = Omit<Secret, 'data' | 'stringData'> & {
  /** Absent if it has no data. */
  readonly dataDigest?: string;
};

/** The record of a Secret, whole or as caches hold it. */
export function secretRecordFields(secret: Pick<Secret, 'metadata' | 'type'>): SecretRecordFields {
  const { annotations = {} } = secret.metadata;
  const isToken = secret.type === TOKEN_SECRET_TYPE;
  const account = { name: annotations[ACCOUNT_NAME] ?? '', uid: annotations[ACCOUNT_UID] ?? '' };
  return { ...recordFields(secret), tokenOf: isToken ? account : undefined };
}

/** True if the name and the UID, as far as one is said, are those of this account. */
export function isAccount(
  named: NamedAccount,
  { metadata }: { readonly metadata: Pick<ServiceAccount['metadata'], 'name' | 'uid'> },
): boolean {
  return named.name === metadata.name && (named.uid === '' || named.uid === metadata.uid);
}
