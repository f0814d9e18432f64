/** The API server over the wire: configuration, clients, watches and discovery. */
export type { ClientConfig, ExecPlugin, Impersonation } from './client-config.ts';
export { type ConfigInput, loadClientConfig } from './config.ts';
export { ConfigError } from './config-error.ts';
export {
  type DiscoveredGroup,
  type DiscoveredResource,
  type Discovery,
  discover,
  groupVersion,
} from './discovery.ts';
export { type ClientFactoryOptions, createClientFactory } from './factory.ts';
export { createMapper, type ResourceMapper, supportsVerbs } from './mapper.ts';
export { certificatesProblem } from './pem.ts';
export { createTokenSigner } from './token-signer.ts';
export type * from './types.ts';
