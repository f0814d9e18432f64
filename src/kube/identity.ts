/** Who requests come from: the kubeconfig's user, or a controller's service account. */
import type { AccountTokens } from './accounts.ts';
import type { ClientConfig, Impersonation } from './client-config.ts';
import { type ExecCredential, ExecCredentials } from './exec.ts';
import type { Material, RotatingMaterial } from './material.ts';
import type { Identity, Presented } from './transport.ts';

/** The identity that the configuration gives: certificate, token, basic, plugin, impersonation. */
export function configuredIdentity(config: ClientConfig, material: RotatingMaterial): Identity {
  const plugin = config.exec === undefined ? undefined : new ExecCredentials(config.exec, config);
  const fixed = impersonationHeaders(config.impersonate);
  const shown = ({ ca, cert, key, token }: Material, given?: ExecCredential): Presented => {
    const authorization = authorizationOf(config, token) ?? given?.authorization;
    const headers = authorization === undefined ? fixed : { ...fixed, authorization };
    const hasOwn = cert !== undefined || given?.cert === undefined;
    return { headers, tls: hasOwn ? { ca, cert, key } : { ca, cert: given.cert, key: given.key } };
  };
  return {
    async present() {
      return shown(await material.refresh(), await plugin?.get());
    },
    atHand: () => (plugin === undefined && !material.isDue ? shown(material.current) : undefined),
    refused() {
      material.expire();
      plugin?.expire();
    },
  };
}

/** A service account: its token alone, on connections without the kubeconfig's certificate. */
export function accountIdentity(tokens: AccountTokens, material: RotatingMaterial): Identity {
  const shown = ({ ca }: Material, token: string): Presented => ({
    headers: { authorization: `Bearer ${token}` },
    tls: { ca },
  });
  return {
    async present() {
      return shown(...(await Promise.all([material.refresh(), tokens.token()])));
    },
    atHand() {
      const token = tokens.atHand;
      return token === undefined || material.isDue ? undefined : shown(material.current, token);
    },
    refused: (sentAt) => tokens.refused(sentAt),
  };
}

function authorizationOf(config: ClientConfig, token: string | undefined): string | undefined {
  if (token !== undefined) return `Bearer ${token}`;
  if (config.basic === undefined) return undefined;
  const { username, password } = config.basic;
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function impersonationHeaders(who: Impersonation | undefined): Readonly<Record<string, string>> {
  if (who === undefined) return {};
  const headers: Record<string, string> = { 'Impersonate-User': who.user };
  if (who.uid !== undefined) headers['Impersonate-Uid'] = who.uid;
  if (who.group !== undefined) headers['Impersonate-Group'] = who.group;
  for (const [name, value] of Object.entries(who.extra)) {
    headers[`Impersonate-Extra-${encodeURIComponent(name)}`] = value;
  }
  return headers;
}
