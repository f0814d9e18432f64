/** How upstream says that a sync has to wait for the cache of slices. */
export function outOfDate(detail: string): string {
  return `EndpointSlice informer cache is out of date: ${detail}`;
}
