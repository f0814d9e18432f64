/** What a token Secret lacks, and how it looks when it has everything. */
import { ACCOUNT_NAME, ACCOUNT_UID } from '../../api/secret.ts';
import type { Secret, ServiceAccount } from '../../api/types/index.ts';

/** Keys of a token Secret's data. */
const TOKEN = 'token';
const CA = 'ca.crt';
const NAMESPACE = 'namespace';
const ISSUER = 'kubernetes/serviceaccount';
const CLAIM_PREFIX = 'kubernetes.io/serviceaccount';

/** What has to be written into a Secret. */
export interface Filling {
  readonly needsToken: boolean;
  /** Values of data besides the token, base64. */
  readonly data: Readonly<Record<string, string>>;
  readonly because: string;
}

/** Values are base64, as the API has them. */
function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

/**
 * What the Secret lacks: a token, the name of its namespace (if empty; another one may stand there)
 * and the CA bundle just as it is here ("" needs none). Undefined if nothing.
 */
export function decide({ metadata, data }: Secret, rootCaPem: string): Filling | undefined {
  const has = (key: string): boolean => (data?.[key] ?? '') !== '';
  const bundle = encode(rootCaPem);
  const needsToken = !has(TOKEN);
  const needsNamespace = !has(NAMESPACE);
  const needsCa = rootCaPem !== '' && data?.[CA] !== bundle;
  if (!needsToken && !needsNamespace && !needsCa) return undefined;
  const lacks = [needsToken ? TOKEN : [], needsNamespace ? NAMESPACE : []].flat();
  const reasons = [
    ...(lacks.length > 0 ? [`it has no ${lacks.join(' and no ')}`] : []),
    ...(needsCa ? [has(CA) ? `its ${CA} is not the cluster's` : `it has no ${CA}`] : []),
  ];
  return {
    needsToken,
    data: {
      ...(needsCa ? { [CA]: bundle } : {}),
      ...(needsNamespace ? { [NAMESPACE]: encode(metadata.namespace ?? '') } : {}),
    },
    because: reasons.join(', '),
  };
}

/** Claims of the token of an account that stands in this Secret: it never ends. */
export function claimsOf(account: ServiceAccount, secret: Secret): Record<string, string> {
  const { namespace = '', name, uid } = account.metadata;
  return {
    iss: ISSUER,
    sub: `system:serviceaccount:${namespace}:${name}`,
    [`${CLAIM_PREFIX}/namespace`]: namespace,
    [`${CLAIM_PREFIX}/secret.name`]: secret.metadata.name,
    [`${CLAIM_PREFIX}/service-account.name`]: name,
    [`${CLAIM_PREFIX}/service-account.uid`]: uid,
  };
}

/** The Secret with what it lacked, all else as it was, naming its account. */
export function filled(
  secret: Secret,
  account: ServiceAccount,
  filling: Filling,
  token: string,
): Secret {
  const { annotations } = secret.metadata;
  const { name, uid } = account.metadata;
  const named = { ...annotations, [ACCOUNT_NAME]: name, [ACCOUNT_UID]: uid };
  const made: Record<string, string> = filling.needsToken ? { [TOKEN]: encode(token) } : {};
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations: named },
    data: { ...secret.data, ...filling.data, ...made },
  };
}
