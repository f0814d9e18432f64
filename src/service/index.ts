/** The service manager's door: readiness, status and watchdog under systemd. */
import { type Clock, kernelMonotonicUs } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Notifier, type Service } from './notifier.ts';
import { openNotifySocket } from './socket.ts';

export type { Service, ServiceState } from './notifier.ts';

/** What systemd put into the environment, each "" if it did not. */
export interface ServiceEnvironment {
  /** NOTIFY_SOCKET */
  readonly notifySocket: string;
  /** WATCHDOG_USEC and WATCHDOG_PID */
  readonly watchdogUsec: string;
  readonly watchdogPid: string;
}

const NOBODY: Service = {
  follow: () => undefined,
  look: () => undefined,
  reload: (work) => work(),
  stopping: () => undefined,
  close: () => undefined,
};

/** Milliseconds of silence that the watchdog bears, 0 if it does not watch this process. */
export function watchdogMs({ watchdogUsec, watchdogPid }: ServiceEnvironment, pid: number): number {
  if (watchdogPid !== '' && watchdogPid !== String(pid)) return 0;
  return /^\d+$/.test(watchdogUsec) ? Number(watchdogUsec) / 1_000 : 0;
}

/**
 * The service manager that started this process, by sd_notify(3) over NOTIFY_SOCKET. Without it
 * nothing is told to anybody; an address of no use is logged and is no reason to end.
 */
export function openService(
  environment: ServiceEnvironment,
  { clock, log, pid }: { clock: Clock; log: Logger; pid: number },
): Service {
  if (environment.notifySocket === '') return NOBODY;
  try {
    return new Notifier({
      socket: openNotifySocket(environment.notifySocket),
      clock,
      monotonicUs: kernelMonotonicUs,
      watchdogMs: watchdogMs(environment, pid),
    });
  } catch (error) {
    log.error('The service manager can not be told anything', error);
    return NOBODY;
  }
}
