/** Flags for metrics, logs, the API server's address, help and version. */
import type { FlagSection } from './row.ts';

/** Sections for metrics, logs, the API server's address, help and version. */
export const PROCESS_SECTIONS: readonly FlagSection[] = [
  {
    name: 'metrics',
    rows: [
      {
        name: 'allow-metric-labels',
        kind: 'map',
        help:
          "The map from metric-label to value allow-list of this label. The key's format is " +
          "<MetricName>,<LabelName>. The value's format is <allowed_value>,<allowed_value>...e.g. " +
          "metric1,label1='v1,v2,v3', metric1,label2='v1,v2,v3' metric2,label1='v1,v2,v3'.",
      },
      {
        name: 'allow-metric-labels-manifest',
        kind: 'string',
        help:
          'The path to the manifest file that contains the allow-list mapping. The format of the ' +
          'file is the same as the flag --allow-metric-labels, i.e., \n' +
          'allowListMapping:\n  "metric1,label1": "value11,value12"\n  "metric2,label2": ""\n' +
          'Note that the flag --allow-metric-labels will override the manifest file.',
      },
      {
        name: 'disabled-metrics',
        kind: 'strings',
        help:
          'This flag provides an escape hatch for misbehaving metrics. You must provide the fully ' +
          'qualified metric name in order to disable it. Disclaimer: disabling metrics is higher ' +
          'in precedence than showing hidden metrics.',
      },
      {
        name: 'show-hidden-metrics-for-version',
        kind: 'string',
        help:
          'The previous version for which you want to show hidden metrics. Only the previous ' +
          'minor version is meaningful, other values will not be allowed. The format is ' +
          "<major>.<minor>, e.g.: '1.16'. The purpose of this format is make sure you have the " +
          'opportunity to notice if the next release hides additional metrics, rather than being ' +
          'surprised when they are permanently removed in the release after that.',
      },
    ],
  },
  {
    name: 'logs',
    rows: [
      {
        name: 'log-flush-frequency',
        kind: 'duration',
        default: '5s',
        help: 'Maximum number of seconds between log flushes',
      },
      {
        name: 'log-json-info-buffer-size',
        kind: 'quantity',
        unit: 'bytes',
        help:
          '[Alpha] In JSON format with split output streams, the info messages can be buffered ' +
          'for a while to increase performance. The default value of zero bytes disables ' +
          'buffering. The size can be specified as number of bytes (512), multiples of 1000 (1K), ' +
          'multiples of 1024 (2Ki), or powers of those (3M, 4G, 5Mi, 6Gi). Enable the ' +
          'LoggingAlphaOptions feature gate to use this.',
      },
      {
        name: 'log-json-split-stream',
        kind: 'bool',
        help:
          '[Alpha] In JSON format, write error messages to stderr and info messages to stdout. ' +
          'The default is to write a single stream to stdout. Enable the LoggingAlphaOptions ' +
          'feature gate to use this.',
      },
      {
        name: 'log-text-info-buffer-size',
        kind: 'quantity',
        unit: 'bytes',
        help:
          '[Alpha] In text format with split output streams, the info messages can be buffered ' +
          'for a while to increase performance. The default value of zero bytes disables ' +
          'buffering. The size can be specified as number of bytes (512), multiples of 1000 (1K), ' +
          'multiples of 1024 (2Ki), or powers of those (3M, 4G, 5Mi, 6Gi). Enable the ' +
          'LoggingAlphaOptions feature gate to use this.',
      },
      {
        name: 'log-text-split-stream',
        kind: 'bool',
        help:
          '[Alpha] In text format, write error messages to stderr and info messages to stdout. ' +
          'The default is to write a single stream to stdout. Enable the LoggingAlphaOptions ' +
          'feature gate to use this.',
      },
      {
        name: 'logging-format',
        kind: 'string',
        default: 'text',
        help: 'Sets the log format. Permitted formats: "json" (gated by LoggingBetaOptions), "text".',
      },
      {
        name: 'v',
        shorthand: 'v',
        kind: 'level',
        help: 'number for the log level verbosity',
      },
      {
        name: 'vmodule',
        kind: 'moduleLevels',
        help:
          'comma-separated list of pattern=N settings for file-filtered logging (only works for ' +
          'text log format)',
      },
    ],
  },
  {
    name: 'misc',
    rows: [
      {
        name: 'kubeconfig',
        kind: 'string',
        help:
          'Path to kubeconfig file with authorization and master location information (the master ' +
          'location can be overridden by the master flag).',
      },
      {
        name: 'master',
        kind: 'string',
        help: 'The address of the Kubernetes API server (overrides any value in kubeconfig).',
      },
    ],
  },
  {
    name: 'global',
    rows: [
      {
        name: 'help',
        shorthand: 'h',
        kind: 'bool',
        help: 'help for {program}',
      },
      {
        name: 'version',
        kind: 'version',
        help:
          '--version, --version=raw prints version information and quits; --version=vX.Y.Z... ' +
          'sets the reported version',
      },
    ],
  },
];
