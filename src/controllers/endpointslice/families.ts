/** The families of addresses that a Service has endpoints in. */
import { type IpFamily, parseIp } from '../../api/ip.ts';
import type { Service } from '../../api/types/index.ts';

/** Those the server has set; without any, that of the cluster IP, or both if it is headless. */
export function familiesOf({ spec }: Service): readonly IpFamily[] {
  const families = (spec?.ipFamilies ?? []).filter(
    (family): family is IpFamily => family === 'IPv4' || family === 'IPv6',
  );
  if (families.length > 0) return [...new Set(families)];
  const { clusterIP = '' } = spec ?? {};
  if (clusterIP === '' || clusterIP === 'None') return ['IPv4', 'IPv6'];
  return [parseIp(clusterIP)?.family ?? 'IPv4'];
}
