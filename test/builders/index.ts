/**
 * Kubernetes objects for tests, one line each: `deployment('shop/web', { spec: { replicas: 3 } })`.
 * The first argument is NAMESPACE/NAME (or just NAME). Overrides are merged into the defaults:
 * objects deeply, lists and values replace, undefined removes. The result can be sent to an API
 * server as it is; `stored()` makes of it what a server would have given back.
 */
export * from './core.ts';
export { merge } from './merge.ts';
export * from './stored.ts';
export * from './workloads.ts';
