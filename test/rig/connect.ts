/** A rig client out of any kubeconfig with certificates or a token. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { Api, type Json } from './api.ts';

/** Connects as the current context says; throws when it uses an auth plugin. */
export function connect(kubeconfig: string): Api {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Json;
  const named = (list: Json[], name: string) => list.find((one) => one.name === name);
  const { context } = named(config.contexts, config['current-context']);
  const { cluster } = named(config.clusters, context.cluster);
  const { user } = named(config.users, context.user);
  const text = (from: Json, key: string): string | undefined => {
    const data = from[`${key}-data`];
    if (data) return Buffer.from(data, 'base64').toString();
    const file = from[key];
    return file ? readFileSync(resolve(dirname(kubeconfig), file), 'utf8') : undefined;
  };
  const caPem = text(cluster, 'certificate-authority') ?? '';
  const certPem = text(user, 'client-certificate');
  const keyPem = text(user, 'client-key');
  if (certPem && keyPem) return new Api(cluster.server, caPem, { certPem, keyPem });
  if (user.token) return new Api(cluster.server, caPem, { token: user.token });
  throw new Error(`${kubeconfig}: user "${context.user}" has neither a certificate nor a token`);
}
