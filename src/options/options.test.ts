import { describe, expect, test } from 'bun:test';
import { FLAGS } from './flags.ts';
import { type Options, parseOptions } from './index.ts';
import { aggregate, CHECKED_FLAGS } from './validate.ts';

function optionsOf(argv: readonly string[], files: Record<string, string> = {}): Options {
  const result = parseOptions(argv, {}, { readText: reader(files) });
  if (result.kind === 'options') return result.options;
  throw new Error(JSON.stringify(result));
}

function reader(files: Record<string, string>) {
  return (path: string): string => {
    const text = files[path];
    if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
    return text;
  };
}

function refusalOf(argv: readonly string[], files: Record<string, string> = {}): string {
  const result = parseOptions(argv, {}, { readText: reader(files) });
  if (result.kind === 'refused') return result.refusal.message;
  throw new Error(`accepted: ${argv.join(' ')}`);
}

describe('options', () => {
  test('durations are milliseconds, and every flag with one value is there for controllers', () => {
    const options = optionsOf([
      '--min-resync-period=1h',
      '--node-monitor-period=1500us',
      '--leader-elect-lease-duration=1m',
      '--state-verify-interval=0',
    ]);
    expect(options.generic.minResyncPeriodMs).toBe(3_600_000);
    expect(options.leaderElection.leaseDurationMs).toBe(60_000);
    expect(options.state.verifyIntervalMs).toBe(0);
    const { flags } = options.controllers;
    expect(flags['node-monitor-period']).toBe(1.5);
    expect(flags['unhealthy-zone-threshold']).toBe(0.55);
    expect(flags['enable-garbage-collector']).toBe(true);
    expect(flags['cluster-cidr']).toBe('');
    expect(flags['concurrent-job-syncs']).toBe(5);
    expect(flags.controllers).toBeUndefined();
  });

  test('TLS settings come in the names that OpenSSL has', () => {
    const { serving } = optionsOf([
      '--tls-min-version=VersionTLS13',
      '--tls-curve-preferences=23,29',
    ]);
    expect(serving.minVersion).toBe('TLSv1.3');
    expect(serving.curves).toEqual(['prime256v1', 'X25519']);
    expect(optionsOf([]).serving.minVersion).toBe('TLSv1.2');
  });

  test('are frozen through and through', () => {
    const options = optionsOf([]);
    expect(Object.isFrozen(options)).toBe(true);
    expect(Object.isFrozen(options.authentication.requestHeader.usernameHeaders)).toBe(true);
    expect(Object.isFrozen(options.controllers.flags)).toBe(true);
  });

  test('the environment tells of the pod and of systemd', () => {
    const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const result = parseOptions([], env);
    if (result.kind !== 'options') throw new Error('refused');
    expect(result.options.environment).toEqual({
      serviceHost: '10.0.0.1',
      servicePort: '443',
      notifySocket: '',
      watchdogUsec: '',
      watchdogPid: '',
    });
  });

  test('--version and --help are told apart, and help comes before arguments', () => {
    expect(parseOptions(['--version'], {})).toMatchObject({ kind: 'version', form: 'plain' });
    expect(parseOptions(['--version=raw'], {})).toMatchObject({ kind: 'version', form: 'raw' });
    expect(parseOptions(['--help', 'x'], {}).kind).toBe('help');
    expect(optionsOf(['--version=v1.36.3-k3s1']).kubernetesVersion).toBe('v1.36.3-k3s1');
  });

  test('request headers without the standard ones are warned of', () => {
    const { warnings } = optionsOf(['--requestheader-group-headers=x-groups']);
    expect(warnings).toEqual([
      '--requestheader-group-headers is set without specifying the standard X-Remote-Group ' +
        'header - API aggregation will not work',
    ]);
  });

  test('leader migration: default, and from a file', () => {
    expect(optionsOf([]).leaderElection.migration).toBeUndefined();
    const standard = optionsOf(['--enable-leader-migration']).leaderElection.migration;
    expect(standard?.leaderName).toBe('cloud-provider-extraction-migration');
    const file = `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: mine
controllerLeaders: [{name: route, component: "*"}]`;
    const argv = ['--enable-leader-migration', '--leader-migration-config=/m'];
    expect(optionsOf(argv, { '/m': file }).leaderElection.migration).toEqual({
      leaderName: 'mine',
      resourceLock: 'leases',
      controllerLeaders: [{ name: 'route', component: '*' }],
    });
  });

  test('allowed label values come from the flag, or else from the manifest', () => {
    const manifest = '"m,l": a,b\n"n,l": ""\n';
    const argv = ['--allow-metric-labels-manifest=/m'];
    const { allowedLabelValues } = optionsOf(argv, { '/m': manifest }).metrics;
    expect(Object.fromEntries(allowedLabelValues)).toEqual({ 'm,l': ['a', 'b'], 'n,l': [''] });
    const flag = optionsOf(['--allow-metric-labels=m,l=x']).metrics.allowedLabelValues;
    expect(Object.fromEntries(flag)).toEqual({ 'm,l': ['x'] });
  });
});

describe('what is refused beyond upstream’s own checks', () => {
  test.each([
    [['--state-dir=state'], '--state-dir must be an absolute path, but got "state"'],
    [['--state-dir='], '--state-dir must be an absolute path, but got ""'],
    [['--state-runtime-dir=.'], '--state-runtime-dir must be an absolute path, but got "."'],
    [
      ['--state-verify-interval=30s'],
      "--state-verify-interval must be 0 (off) or at least 1m0s: each pass reads every object's " +
        'version',
    ],
    [
      ['--state-downtime-counted=-1s'],
      '--state-downtime-counted must not be negative; 0 turns it off',
    ],
    [
      ['--state-dir=a', '--state-runtime-dir=b', '--concurrent-job-syncs=0'],
      '[concurrent-job-syncs must be greater than 0, but got 0, ' +
        '--state-dir must be an absolute path, but got "a", ' +
        '--state-runtime-dir must be an absolute path, but got "b"]',
    ],
    [['--leader-elect-lease-duration=10s'], 'leaseDuration must be greater than renewDeadline'],
    [
      ['--leader-elect-retry-period=9s'],
      'renewDeadline must be greater than retryPeriod*JitterFactor',
    ],
    [['--leader-elect-retry-period=0'], 'retryPeriod must be greater than zero'],
  ])('%j', (argv, message) => {
    expect(refusalOf(argv)).toBe(message);
  });

  test('without election its timing does not matter, without HTTPS nor does TLS', () => {
    optionsOf(['--leader-elect=false', '--leader-elect-lease-duration=1s']);
    optionsOf(['--secure-port=0', '--tls-min-version=x']);
  });
});

describe('files that flags name', () => {
  const head =
    'apiVersion: controllermanager.config.k8s.io/v1\nkind: LeaderMigrationConfiguration\n';

  test.each([
    ['[]', '--leader-migration-config /m: LeaderMigrationConfiguration: found []; valid is a map'],
    [
      `${head}leader: x`,
      '--leader-migration-config /m: LeaderMigrationConfiguration: unknown field "leader"; valid ' +
        'are apiVersion, kind, leaderName, resourceLock, controllerLeaders',
    ],
    [
      'apiVersion: v1\nkind: Pod',
      '--leader-migration-config /m: found v1, Kind=Pod; valid is LeaderMigrationConfiguration of ' +
        'controllermanager.config.k8s.io/v1 or controllermanager.config.k8s.io/v1beta1 or ' +
        'controllermanager.config.k8s.io/v1alpha1',
    ],
    [
      `${head}controllerLeaders: x`,
      '--leader-migration-config /m: controllerLeaders: found "x"; valid is a list',
    ],
    [`${head}leaderName: 5`, '--leader-migration-config /m: leaderName: found 5; valid is a text'],
    [
      `${head}resourceLock: x\ncontrollerLeaders: [{}]`,
      'failed to parse leader migration configuration: ' +
        '[leaderName: Required value: leaderName must be set for LeaderMigrationConfiguration ' +
        `resourceLock: Invalid value: "x": resource Lock must be one of 'leases' or 'endpoints' ` +
        'controllerLeaders[0].component: Required value controllerLeaders[0].name: Required value]',
    ],
  ])('leader migration %j', (text, message) => {
    const argv = ['--enable-leader-migration', '--leader-migration-config=/m'];
    expect(refusalOf(argv, { '/m': text })).toBe(message);
  });

  const field = 'metrics.allowListMappingManifest: Invalid value: "/m":';

  test.each([
    [
      'a: {b: c}',
      `${field} failed to parse allow list manifest: ` +
        'valid is a map of "metric,label" to values with commas between them',
    ],
    [
      'a: b',
      `${field} invalid allow list mapping in manifest: [metrics.allowListMappingManifest: ` +
        'Invalid value: {"a":"b"}: must have keys with format `metricName,labelName` where ' +
        'metricName matches "[a-zA-Z_:][a-zA-Z0-9_:]*" and labelName matches ' +
        '"[a-zA-Z_][a-zA-Z0-9_]*"]',
    ],
  ])('metrics manifest %j', (text, message) => {
    expect(refusalOf(['--allow-metric-labels-manifest=/m'], { '/m': text })).toBe(message);
  });
});

describe('checks', () => {
  test('every row with a check is asked', () => {
    const withCheck = [...FLAGS.values()].filter(({ check }) => check !== undefined);
    for (const { name } of withCheck) expect(CHECKED_FLAGS).toContain(name);
  });

  test('several messages are shown as upstream shows them', () => {
    expect(aggregate(['a'])).toBe('a');
    expect(aggregate(['a', 'a'])).toBe('a');
    expect(aggregate(['a', 'b', 'a'])).toBe('[a, b]');
  });
});
