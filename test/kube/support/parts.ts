/** What clients under test are made of: a fake clock, a log that remembers, an open fence. */

import type { ClientFactoryOptions, WriteFence } from '../../../src/kube/index.ts';
import {
  type ClientConfig,
  type ClientFactory,
  createClientFactory,
} from '../../../src/kube/index.ts';
import type { Logger } from '../../../src/runtime/log.ts';
import { createMetrics, type ServedMetrics } from '../../../src/runtime/metrics.ts';
import { type FakeClock, fakeClock } from '../../../src/runtime/testing/fake-clock.ts';
import type { FaultServer } from './fault-server.ts';

/** A logger that keeps its lines: "W message", "E message: error". */
export function memoryLog(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const log: Logger & { readonly lines: string[] } = {
    lines,
    info: (message) => void lines.push(`I ${message}`),
    warning: (message) => void lines.push(`W ${message}`),
    error: (message, error) => void lines.push(`E ${message}: ${String(error)}`),
    v: () => log,
    enabled: () => true,
    named: () => log,
  };
  return log;
}

/** A fence that is open until `shut` is called. */
export class TestFence implements WriteFence {
  #controller = new AbortController();
  #open = true;

  mayWrite(): boolean {
    return this.#open;
  }

  signal(): AbortSignal {
    return this.#controller.signal;
  }

  shut(): void {
    this.#open = false;
    this.#controller.abort();
  }

  reopen(): void {
    this.#open = true;
    this.#controller = new AbortController();
  }
}

export interface TestParts {
  readonly factory: ClientFactory;
  readonly clock: FakeClock;
  readonly metrics: ServedMetrics;
  readonly log: ReturnType<typeof memoryLog>;
  readonly fence: TestFence;
}

/** The configuration for a client of the fault server, with its client certificate. */
export function configFor(server: FaultServer, more: Partial<ClientConfig> = {}): ClientConfig {
  return {
    server: server.url,
    namespace: 'default',
    source: 'test',
    ca: { pem: server.authority.certPem },
    insecureSkipTlsVerify: false,
    clientCertificate: { cert: { pem: server.client.certPem }, key: { pem: server.client.keyPem } },
    ...more,
  };
}

/** A factory over a fake clock that starts at 2026-01-01. */
export function partsFor(
  config: ClientConfig,
  more: Partial<ClientFactoryOptions> = {},
): TestParts {
  const clock = fakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const metrics = createMetrics({ process: 'none' });
  const log = memoryLog();
  const fence = new TestFence();
  const factory = createClientFactory(config, {
    clock,
    log,
    metrics,
    fence,
    qps: -1,
    burst: 0,
    useServiceAccountCredentials: false,
    version: '1.2.3',
    ...more,
  });
  return { factory, clock, metrics, log, fence };
}

/** The error a promise rejects with; fails if it resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${String(error)}, no Error`);
  }
  throw new Error('resolved, but should have been rejected');
}
