/** Holdfast's own flags: where its memory lies and how far it is trusted. */
import { absolutePath, type FlagCheck, type FlagSection, notNegative } from './row.ts';

const SECOND = 1_000_000_000n;
const VERIFY_INTERVAL_MIN = 60n * SECOND;

const verifyInterval: FlagCheck = (name, value) => {
  if (typeof value !== 'bigint' || value === 0n || value >= VERIFY_INTERVAL_MIN) return undefined;
  return `--${name} must be 0 (off) or at least 1m0s: each pass reads every object's version`;
};

/** The section of our own flags. */
export const STATE_SECTION: FlagSection = {
  name: 'state',
  rows: [
    {
      name: 'config',
      kind: 'string',
      help:
        'Path to a YAML file that gives flags by name, of kind HoldfastConfiguration. ' +
        'A flag on the command line beats the file.',
    },
    {
      name: 'state-dir',
      kind: 'string',
      default: '/var/lib/holdfast',
      help:
        'Directory of the SQLite file in which Holdfast remembers its state across restarts. ' +
        'It is made with mode 0700 if absent.',
      check: absolutePath,
    },
    {
      name: 'state-downtime-counted',
      kind: 'duration',
      default: '15s',
      help:
        'The longest time without a running process that remembered countdowns (tolerations, ' +
        'node grace periods, backoffs) still count as elapsed. After a longer one they go on ' +
        'from where they stood.',
      check: notNegative,
    },
    {
      name: 'state-runtime-dir',
      kind: 'string',
      default: '/run/holdfast',
      help:
        'Directory for what must not survive a reboot, best on tmpfs: by it a restarted process ' +
        'knows its own Lease again.',
      check: absolutePath,
    },
    {
      name: 'state-verify-interval',
      kind: 'duration',
      default: '24h',
      help:
        'How often each resource is compared with the API server, and repaired if they differ. ' +
        '0 turns it off.',
      check: verifyInterval,
    },
  ],
};
