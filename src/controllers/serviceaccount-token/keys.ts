/** Queue keys: they carry all that is needed once the object itself is gone. */
import type { NamedAccount } from '../../api/secret.ts';
import type { ObjectRecord, SecretRecord } from '../../runtime/informer/types.ts';

/** A ServiceAccount as its key tells it. */
export interface AccountKey {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A token Secret and the account it names, as its key tells them. */
export interface SecretKey extends AccountKey {
  readonly account: NamedAccount;
}

/** "namespace/name/uid". */
export function accountKey({ namespace, name, uid }: ObjectRecord): string {
  return `${namespace}/${name}/${uid}`;
}

/** "namespace/name/uid/account/account's uid"; annotations are escaped, for they may be any text. */
export function secretKey(record: SecretRecord, { name, uid }: NamedAccount): string {
  return [accountKey(record), escaped(name), escaped(uid)].join('/');
}

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** What `accountKey` wrote. */
export function readAccountKey(key: string): AccountKey {
  const [namespace = '', name = '', uid = ''] = key.split('/');
  return { namespace, name, uid };
}

/** What `secretKey` wrote. */
export function readSecretKey(key: string): SecretKey {
  const [, , , name = '', uid = ''] = key.split('/');
  const account = { name: decodeURIComponent(name), uid: decodeURIComponent(uid) };
  return { ...readAccountKey(key), account };
}
