/** Families about serving: who was let in, and the health checks as service level indicators. */
import { Counter, Gauge, Registry } from 'prom-client';
import { exponentialBuckets, type Metrics } from '../runtime/metrics.ts';

export interface ServingMetrics {
  authenticated(user: string | undefined, durationMs: number): void;
  authorized(result: 'allowed' | 'denied' | 'error', durationMs: number): void;
  checked(name: string, ok: boolean): void;
  /** The text of /metrics/slis. */
  slis(): Promise<string>;
  resetSlis(): void;
}

const HEALTH_TYPE = 'healthz';
const DURATION_BUCKETS = exponentialBuckets(0.001, 2, 15);
const MS_PER_SECOND = 1_000;

/** Registers the families; the health families live in a registry of their own. */
export function createServingMetrics(metrics: Metrics): ServingMetrics {
  const attempts = metrics.counter(
    'authentication_attempts',
    'Counter of authenticated attempts.',
    ['result'],
  );
  const users = metrics.counter(
    'authenticated_user_requests',
    'Counter of authenticated requests broken out by username.',
    ['username'],
  );
  const access = metrics.counter(
    'authorization_attempts_total',
    'Counter of authorization attempts broken down by result. ' +
      "It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
    ['result'],
  );
  const identifying = metrics.histogram(
    'authentication_duration_seconds',
    'Authentication duration in seconds broken out by result.',
    ['result'],
    DURATION_BUCKETS,
  );
  const allowing = metrics.histogram(
    'authorization_duration_seconds',
    'Authorization duration in seconds broken out by result.',
    ['result'],
    DURATION_BUCKETS,
  );
  const slis = createSlis();
  return {
    authenticated(user, durationMs) {
      const result = user === undefined ? 'failure' : 'success';
      attempts.inc({ result });
      identifying.observe({ result }, durationMs / MS_PER_SECOND);
      if (user === undefined) return;
      const known = user.startsWith('system:') ? user : 'other';
      users.inc({ username: known });
    },
    authorized(result, durationMs) {
      access.inc({ result });
      allowing.observe({ result }, durationMs / MS_PER_SECOND);
    },
    checked(name, ok) {
      slis.gauge.set({ name, type: HEALTH_TYPE }, ok ? 1 : 0);
      slis.counter.inc({ name, type: HEALTH_TYPE, status: ok ? 'success' : 'error' });
    },
    slis: () => slis.registry.metrics(),
    resetSlis() {
      slis.gauge.reset();
      slis.counter.reset();
    },
  };
}

interface Slis {
  readonly registry: Registry;
  readonly gauge: Gauge<'name' | 'type'>;
  readonly counter: Counter<'name' | 'type' | 'status'>;
}

function createSlis(): Slis {
  const registry = new Registry();
  return {
    registry,
    gauge: new Gauge({
      name: 'kubernetes_healthcheck',
      help: 'This metric records the result of a single healthcheck.',
      labelNames: ['name', 'type'],
      registers: [registry],
    }),
    counter: new Counter({
      name: 'kubernetes_healthchecks_total',
      help: 'This metric records the results of all healthcheck.',
      labelNames: ['name', 'type', 'status'],
      registers: [registry],
    }),
  };
}
