/**
 * Simulated nodes as a process of their own:
 * `bun test/rig/nodes-main.ts --kubeconfig FILE --count 10 [--prefix node] [--ready-delay 500ms]
 * [--bind] [--clear-taint] [--heartbeat 10s] [--zone NAME]`. Prints "ready" once all nodes are registered.
 */
import { parseArgs } from 'node:util';
import { connect } from './connect.ts';
import { simulateNodes } from './nodes.ts';
import { durationMs } from './pod-plan.ts';

const ZONE_LABEL = 'topology.kubernetes.io/zone';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    count: { type: 'string', default: '1' },
    prefix: { type: 'string', default: 'node' },
    'ready-delay': { type: 'string', default: '0' },
    heartbeat: { type: 'string', default: '10s' },
    bind: { type: 'boolean', default: false },
    'clear-taint': { type: 'boolean', default: false },
    zone: { type: 'string' },
  },
});
if (values.kubeconfig === undefined) throw new Error('--kubeconfig FILE is needed');
const api = connect(values.kubeconfig);
await simulateNodes(
  { api },
  {
    count: Number(values.count),
    prefix: values.prefix,
    readyDelayMs: durationMs(values['ready-delay']),
    heartbeatMs: durationMs(values.heartbeat),
    bind: values.bind,
    clearTaint: values['clear-taint'],
    labels: (): Record<string, string> =>
      values.zone === undefined ? {} : { [ZONE_LABEL]: values.zone },
  },
);
console.log('ready');
