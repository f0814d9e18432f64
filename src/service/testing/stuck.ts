/**
 * A process that feeds its watchdog through the door and, when asked with SIGUSR2, keeps its main
 * thread busy for a while. Its status says so before and after, on the same socket.
 */
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/log.ts';
import { openService } from '../index.ts';

const STUCK_MS = 1_000;

const clock = systemClock();
const { pid } = process;
const write = (line: string): void => void process.stderr.write(`${line}\n`);
const log = createLogger({ format: 'text', verbosity: 0, write, clock, pid });
const { NOTIFY_SOCKET: notifySocket = '', WATCHDOG_USEC: watchdogUsec = '' } = process.env;
const service = openService({ notifySocket, watchdogUsec, watchdogPid: '' }, { clock, log, pid });
let status = 'Running';
const say = (next: string): void => {
  status = next;
  service.look();
};
process.on('SIGUSR2', () => {
  say('Stuck');
  const until = clock.monotonic() + STUCK_MS;
  while (clock.monotonic() < until);
  say('Free');
});
setInterval(() => undefined, 60_000);
service.follow(() => ({ ready: true, status }));
