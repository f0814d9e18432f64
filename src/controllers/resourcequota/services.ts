/** What a Service costs: itself, the node ports it may take, a load balancer. */
import { type Quantity, quantityOf, ZERO } from '../../api/quantity.ts';
import type { Service } from '../../api/types/index.ts';
import { countName, ONE } from './amounts.ts';
import { type Charge, chargeOf } from './charge.ts';

const COUNT = countName('services');
const NODE_PORTS = 'services.nodeports';
const LOAD_BALANCERS = 'services.loadbalancers';
const KNOWN = new Set([COUNT, 'services', NODE_PORTS, LOAD_BALANCERS]);

/** True for the names that Services are charged for. */
export function isServiceName(name: string): boolean {
  return KNOWN.has(name);
}

/** The price of a Service. */
export function serviceCharge({ spec }: Service): Charge {
  const isBalanced = spec?.type === 'LoadBalancer';
  const amounts = new Map<string, Quantity>([
    [COUNT, ONE],
    ['services', ONE],
    [LOAD_BALANCERS, isBalanced ? ONE : ZERO],
    [NODE_PORTS, quantityOf(nodePorts(spec))],
  ]);
  return chargeOf(amounts);
}

/** Ports may not be allocated yet: what counts is that they will be. */
function nodePorts(spec: Service['spec']): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  if (spec.allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0).length;
}
