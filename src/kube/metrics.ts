/** The rest_client_* metrics of upstream, and the bytes that crossed the wire. */
import { type Metrics, perKey, sampler, tally } from '../runtime/metrics.ts';

const LATENCY_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const SIZE_BYTES = [
  64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];
const PLUGIN_CERTIFICATE_AGE_SECONDS = [
  600, 1800, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000,
  124_416_000,
];

/** Which lane a request used: watches are counted apart. */
export type Traffic = 'request' | 'watch';

/** What the client reports while it works. Durations in milliseconds, sizes in bytes. */
export interface ClientMetrics {
  /** One attempt ended: HTTP status, or "<error>" without an answer. */
  attempt(code: number | '<error>', verb: string, isRetry: boolean): void;
  /** A whole request with its waiting and all its attempts. */
  finished(verb: string, durationMs: number): void;
  throttled(verb: string, durationMs: number): void;
  requestSize(verb: string, bytes: number): void;
  responseSize(verb: string, bytes: number): void;
  sent(traffic: Traffic, bytes: number): void;
  received(traffic: Traffic, bytes: number): void;
  caReloaded(result: 'success' | 'failure', reason: string): void;
  /** A connection pool was made (`change` 1) or given up (-1). */
  pools(change: 1 | -1): void;
}

/** Registers the families and reports under this host ("10.0.0.1:6443"). */
export function clientMetrics(metrics: Metrics, host: string): ClientMetrics {
  const families = register(metrics);
  const byTraffic = (family: typeof families.sent) => ({
    request: tally(family, { traffic: 'request' }),
    watch: tally(family, { traffic: 'watch' }),
  });
  const { duration, limiter, requestSize, responseSize } = families;
  const byVerb = (family: typeof duration) =>
    perKey((verb: string) => sampler(family, { verb, host }));
  const durations = byVerb(duration);
  const waits = byVerb(limiter);
  const requestSizes = byVerb(requestSize);
  const responseSizes = byVerb(responseSize);
  const attempts = perKey((method: string) =>
    perKey((code: number | '<error>') =>
      tally(families.requests, { code: String(code), method, host }),
    ),
  );
  const sent = byTraffic(families.sent);
  const received = byTraffic(families.received);
  return {
    attempt(code, verb, isRetry) {
      attempts(verb)(code)();
      if (isRetry) families.retries.inc({ code: String(code), verb, host });
    },
    finished: (verb, durationMs) => durations(verb)(durationMs / 1e3),
    throttled: (verb, durationMs) => waits(verb)(durationMs / 1e3),
    requestSize: (verb, bytes) => requestSizes(verb)(bytes),
    responseSize: (verb, bytes) => responseSizes(verb)(bytes),
    sent: (traffic, bytes) => sent[traffic](bytes),
    received: (traffic, bytes) => received[traffic](bytes),
    caReloaded: (result, reason) => families.caReloads.inc({ result, reason }),
    pools(change) {
      families.pools.inc(change);
      if (change === 1) families.poolCalls.inc({ result: 'miss' });
    },
  };
}

function register(metrics: Metrics) {
  const byVerb = ['verb', 'host'] as const;
  const seconds = (name: string, help: string) =>
    metrics.histogram(`rest_client_${name}`, `[ALPHA] ${help}`, byVerb, LATENCY_SECONDS);
  const bytes = (name: string, help: string) =>
    metrics.histogram(`rest_client_${name}`, `[ALPHA] ${help}`, byVerb, SIZE_BYTES);
  const counter = <L extends string>(name: string, help: string, labels: readonly L[]) =>
    metrics.counter(`rest_client_${name}`, `[ALPHA] ${help}`, labels);
  registerPluginFamilies(metrics);
  return {
    duration: seconds(
      'request_duration_seconds',
      'Request latency in seconds. Broken down by verb, and host.',
    ),
    limiter: seconds(
      'rate_limiter_duration_seconds',
      'Client side rate limiter latency in seconds. Broken down by verb, and host.',
    ),
    requestSize: bytes(
      'request_size_bytes',
      'Request size in bytes. Broken down by verb and host.',
    ),
    responseSize: bytes(
      'response_size_bytes',
      'Response size in bytes. Broken down by verb and host.',
    ),
    requests: counter(
      'requests_total',
      'Number of HTTP requests, partitioned by status code, method, and host.',
      ['code', 'method', 'host'],
    ),
    retries: counter(
      'request_retries_total',
      'Number of request retries, partitioned by status code, verb, and host.',
      ['code', 'verb', 'host'],
    ),
    caReloads: counter(
      'transport_ca_reload_total',
      'Number of times a CA reload is attempted, partitioned by the result and reason for the ' +
        'reload attempt',
      ['result', 'reason'],
    ),
    poolCalls: counter(
      'transport_create_calls_total',
      'Number of calls to get a new transport, partitioned by the result of the operation hit: ' +
        'obtained from the cache, miss: created and added to the cache, miss-gc: recreated and ' +
        'added back to the cache after being garbage collected, uncacheable: created and not ' +
        'cached',
      ['result'],
    ),
    pools: metrics.gauge(
      'rest_client_transport_cache_entries',
      '[ALPHA] Number of transport entries in the internal cache.',
      [],
    ),
    sent: metrics.counter(
      'holdfast_client_sent_bytes_total',
      'Bytes of request bodies sent to the API server.',
      ['traffic'],
    ),
    received: metrics.counter(
      'holdfast_client_received_bytes_total',
      'Bytes of answers and watch streams received from the API server.',
      ['traffic'],
    ),
  };
}

/** Families that upstream always exposes; without plugin certificates they keep these values. */
function registerPluginFamilies(metrics: Metrics): void {
  metrics
    .gauge(
      'rest_client_exec_plugin_ttl_seconds',
      '[ALPHA] Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by ' +
        'the auth exec plugin. The value is in seconds until certificate expiry (negative if ' +
        'already expired). If auth exec plugins are unused or manage no TLS certificates, the ' +
        'value will be +INF.',
      [],
    )
    .set(Number.POSITIVE_INFINITY);
  metrics.histogram(
    'rest_client_exec_plugin_certificate_rotation_age',
    '[ALPHA] Histogram of the number of seconds the last auth exec plugin client certificate ' +
      'lived before being rotated. If auth exec plugin client certificates are unused, histogram ' +
      'will contain no data.',
    [],
    PLUGIN_CERTIFICATE_AGE_SECONDS,
  );
  metrics.counter(
    'rest_client_transport_cert_rotation_gc_calls_total',
    '[ALPHA] Number of times a cert rotation goroutine cancel func is called via GC cleanup of ' +
      'the associated transport',
    [],
  );
}
