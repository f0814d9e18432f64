/** Families about serving: who was let in, and the health checks as service level indicators. */
import { createMetrics, exponentialBuckets, type Metrics } from '../runtime/metrics.ts';

export interface ServingMetrics {
  authenticated(user: string | undefined, durationMs: number): void;
  authorized(result: 'allowed' | 'denied' | 'no-opinion' | 'error', durationMs: number): void;
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
      // As upstream: whoever shows nothing is anonymous, so credentials that are no good are errors.
      const result = user === undefined ? 'error' : 'success';
      attempts.inc({ result });
      identifying.observe({ result }, durationMs / MS_PER_SECOND);
      if (user === undefined) return;
      users.inc({ username: userClass(user) });
    },
    authorized(result, durationMs) {
      access.inc({ result });
      allowing.observe({ result }, durationMs / MS_PER_SECOND);
    },
    checked(name, ok) {
      slis.gauge.set({ name, type: HEALTH_TYPE }, ok ? 1 : 0);
      slis.counter.inc({ name, type: HEALTH_TYPE, status: ok ? 'success' : 'error' });
    },
    slis: () => slis.own.serialize(),
    resetSlis() {
      slis.gauge.reset();
      slis.counter.reset();
    },
  };
}

/** Names that have a series of their own; all others share one. */
const NAMED_USERS = new Set([
  'admin',
  'client',
  'kube_proxy',
  'kubelet',
  'system:serviceaccount:kube-system:default',
]);

function userClass(name: string): string {
  if (NAMED_USERS.has(name)) return name;
  return name.includes('@') ? 'email_id' : 'other';
}

/** The families of /metrics/slis, beside them only the start of the process. */
function createSlis() {
  const own = createMetrics({ process: 'start' });
  return {
    own,
    gauge: own.gauge(
      'kubernetes_healthcheck',
      '[STABLE] This metric records the result of a single healthcheck.',
      ['name', 'type'],
    ),
    counter: own.counter(
      'kubernetes_healthchecks_total',
      '[STABLE] This metric records the results of all healthcheck.',
      ['name', 'type', 'status'],
    ),
  };
}
