/** What a simulated kubelet does with a pod: read from annotations, written as status bodies. */
import type { Obj } from './api.ts';

/** `run` gets ready and stays; the others are what their names say. */
export type Behaviour = 'run' | 'hang' | 'fail' | 'finish' | 'crash' | 'unready';

/** The life of one pod. All times in milliseconds. */
export interface PodPlan {
  readonly behaviour: Behaviour;
  /** From bound to Ready. */
  readonly readyAfterMs: number;
  /** From Running to the end, for fail and finish; between restarts for crash. */
  readonly finishAfterMs: number;
  /** Of the containers at the end. Default 0 for finish, 1 for fail and crash. */
  readonly exitCode: number;
  /** From the deletion request to the end of the pod. */
  readonly terminateAfterMs: number;
  /** Reason in the pod status at the end, e.g. Evicted. */
  readonly reason?: string;
  /** Exit code after a deletion request; makes the kubelet report the end before it deletes. */
  readonly terminateExitCode?: number;
}

const PREFIX = 'sim.holdfast.dev/';
const BEHAVIOURS: readonly string[] = ['run', 'hang', 'fail', 'finish', 'crash', 'unready'];
const CRASH_EVERY_MS = 10_000;

/** "500ms", "2s", "1m" or plain milliseconds. */
export function durationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  if (!match) throw new Error(`"${text}" is no duration: want e.g. 500ms, 2s or 1m`);
  return Number(match[1]) * (match[2] === 'm' ? 60_000 : match[2] === 's' ? 1_000 : 1);
}

/** The plan a pod's annotations give, on top of the simulator's defaults. */
export function planOf(pod: Obj, defaults: Partial<PodPlan> = {}): PodPlan {
  const note = (name: string): string | undefined => pod.metadata.annotations?.[PREFIX + name];
  const time = (name: string): number | undefined => {
    const text = note(name);
    return text === undefined ? undefined : durationMs(text);
  };
  const whole = (name: string): number | undefined => {
    const text = note(name);
    return text === undefined ? undefined : Number(text);
  };
  const behaviour = note('behaviour') ?? defaults.behaviour ?? 'run';
  if (!BEHAVIOURS.includes(behaviour)) {
    throw new Error(`behaviour "${behaviour}" is none of ${BEHAVIOURS.join(', ')}`);
  }
  const fallback = behaviour === 'fail' || behaviour === 'crash' ? 1 : 0;
  const pause = behaviour === 'crash' ? CRASH_EVERY_MS : 0;
  return {
    behaviour: behaviour as Behaviour,
    readyAfterMs: time('ready-after') ?? defaults.readyAfterMs ?? 0,
    finishAfterMs: time('finish-after') ?? defaults.finishAfterMs ?? pause,
    exitCode: whole('exit-code') ?? defaults.exitCode ?? fallback,
    terminateAfterMs: time('terminate-after') ?? defaults.terminateAfterMs ?? 0,
    reason: note('reason') ?? defaults.reason,
    terminateExitCode: whole('terminate-exit-code') ?? defaults.terminateExitCode,
  };
}

/** What the status bodies need of a pod. */
export interface PodFacts {
  readonly uid: string;
  readonly generation?: number;
  readonly hostIP: string;
  readonly podIP: string;
  readonly startTime: string;
  readonly containers: readonly { readonly name: string; readonly image: string }[];
  readonly sidecars: readonly { readonly name: string; readonly image: string }[];
  readonly initContainers: readonly { readonly name: string; readonly image: string }[];
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timestamp(ms = Date.now()): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

type Container = { readonly name: string; readonly image: string };

function containerStatus(container: Container, ready: boolean, restarts: number, state: object) {
  return {
    name: container.name,
    image: container.image,
    imageID: `sim://${container.image}`,
    containerID: `sim://${container.name}`,
    ready,
    started: ready,
    restartCount: restarts,
    state,
  };
}

function condition(type: string, status: boolean, reason?: string) {
  return {
    type,
    status: status ? 'True' : 'False',
    lastTransitionTime: timestamp(),
    ...(reason ? { reason } : { reason: null, message: null }),
  };
}

function conditions(ready: boolean, reason?: string) {
  return [
    condition('PodReadyToStartContainers', true),
    condition('Initialized', true),
    condition('ContainersReady', ready, reason),
    condition('Ready', ready, reason),
  ];
}

function frame(facts: PodFacts, phase: string) {
  return {
    phase,
    hostIP: facts.hostIP,
    hostIPs: [{ ip: facts.hostIP }],
    podIP: facts.podIP,
    podIPs: [{ ip: facts.podIP }],
    startTime: facts.startTime,
    ...(facts.generation === undefined ? {} : { observedGeneration: facts.generation }),
  };
}

function initStatuses(facts: PodFacts, running: boolean) {
  const done = (exitCode: number) => ({
    terminated: {
      exitCode,
      reason: 'Completed',
      startedAt: facts.startTime,
      finishedAt: timestamp(),
    },
  });
  const statuses = [
    ...facts.initContainers.map((one) => containerStatus(one, true, 0, done(0))),
    ...facts.sidecars.map((one) =>
      containerStatus(one, running, 0, running ? { running: { startedAt: timestamp() } } : done(0)),
    ),
  ];
  return statuses.length > 0 ? { initContainerStatuses: statuses } : {};
}

/** The status of a pod whose containers run. */
export function runningStatus(facts: PodFacts, ready: boolean): object {
  const state = { running: { startedAt: facts.startTime } };
  return {
    ...frame(facts, 'Running'),
    conditions: conditions(ready, ready ? undefined : 'ContainersNotReady'),
    containerStatuses: facts.containers.map((one) => containerStatus(one, ready, 0, state)),
    ...initStatuses(facts, true),
  };
}

/** The status of a pod whose containers crash again and again. */
export function crashStatus(facts: PodFacts, restarts: number, exitCode: number): object {
  const last = { exitCode, reason: 'Error', startedAt: facts.startTime, finishedAt: timestamp() };
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off restarting' } };
  return {
    ...frame(facts, 'Running'),
    conditions: conditions(false, 'ContainersNotReady'),
    containerStatuses: facts.containers.map((one) => ({
      ...containerStatus(one, false, restarts, state),
      lastState: { terminated: last },
    })),
    ...initStatuses(facts, true),
  };
}

/** The status of a pod whose containers have ended for good. */
export function endedStatus(facts: PodFacts, exitCode: number, failed: boolean, reason?: string) {
  const why = failed ? 'PodFailed' : 'PodCompleted';
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: facts.startTime,
    finishedAt: timestamp(),
  };
  return {
    ...frame(facts, failed ? 'Failed' : 'Succeeded'),
    ...(reason ? { reason } : {}),
    conditions: conditions(false, why),
    containerStatuses: facts.containers.map((one) => ({
      ...containerStatus(one, false, 0, { terminated }),
    })),
    ...initStatuses(facts, false),
  };
}
