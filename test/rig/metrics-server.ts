/** The real metrics-server, scraping the kubelets of simulated nodes. */
import { join } from 'node:path';
import { aggregate } from './aggregation.ts';
import { metricsServerBinary } from './binaries.ts';
import type { Child } from './child.ts';
import type { Cluster } from './cluster.ts';
import { freePort } from './ports.ts';

/**
 * Starts it on a cluster of METRICS_CLUSTER's kind whose nodes were simulated with `kubelets`; resolves
 * when the API server finds metrics.k8s.io available. It scrapes every 10 s, the least it allows, and
 * tells of pods that it has scraped twice. It ends with the cluster.
 */
export async function startMetricsServer(cluster: Cluster): Promise<Child> {
  const port = await freePort();
  const kubeconfig = cluster.kubeconfig('admin');
  const child = cluster.spawn('metrics-server', [
    await metricsServerBinary(),
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(cluster.dir, 'metrics-server')}`,
    '--kubelet-insecure-tls',
    '--kubelet-use-node-status-port',
    '--kubelet-preferred-address-types=ExternalIP',
    '--kubelet-request-timeout=8s',
    '--metric-resolution=10s',
  ]);
  try {
    await aggregate(cluster.api, 'metrics-server', port, [['metrics.k8s.io', 'v1beta1']]);
  } catch (error) {
    throw new Error(`${error}\n${child.tail()}`);
  }
  return child;
}
