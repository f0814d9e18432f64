/** The process_* families of Prometheus' client libraries, read from /proc when scraped. */
import { readdirSync, readFileSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Clock ticks a second in /proc/<pid>/stat: 100 on every Linux that Kubernetes runs on. */
const TICKS_PER_SECOND = 100;
/** What Prometheus' client shows for "unlimited". */
const UNLIMITED = 2 ** 64;

/** Fields of /proc/self/stat, counted from the one after the process's name. */
const STAT_USER_TICKS = 11;
const STAT_SYSTEM_TICKS = 12;
const STAT_START_TICKS = 19;
const STAT_VIRTUAL_BYTES = 20;

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  /** undefined: this system doesn't tell. */
  read(): number | undefined;
}

const START_FAMILY: Family = {
  name: 'process_start_time_seconds',
  help: 'Start time of the process since unix epoch in seconds.',
  type: 'gauge',
  read: startSeconds,
};

const FAMILIES: readonly Family[] = [
  START_FAMILY,
  {
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    type: 'counter',
    read: cpuSeconds,
  },
  {
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    type: 'gauge',
    read: openFiles,
  },
  {
    name: 'process_max_fds',
    help: 'Maximum number of open file descriptors.',
    type: 'gauge',
    read: () => limitOf('Max open files'),
  },
  {
    name: 'process_virtual_memory_bytes',
    help: 'Virtual memory size in bytes.',
    type: 'gauge',
    read: () => statField(STAT_VIRTUAL_BYTES),
  },
  {
    name: 'process_virtual_memory_max_bytes',
    help: 'Maximum amount of virtual memory available in bytes.',
    type: 'gauge',
    read: () => limitOf('Max address space'),
  },
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    type: 'gauge',
    read: residentBytes,
  },
  {
    name: 'process_network_receive_bytes_total',
    help: 'Number of bytes received by the process over the network.',
    type: 'counter',
    read: () => networkBytes('InOctets'),
  },
  {
    name: 'process_network_transmit_bytes_total',
    help: 'Number of bytes sent by the process over the network.',
    type: 'counter',
    read: () => networkBytes('OutOctets'),
  },
];

function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

function statField(index: number): number | undefined {
  const text = readProc('/proc/self/stat');
  // The name in parentheses may hold blanks; what follows its end may not.
  const field = text.slice(text.lastIndexOf(')') + 2).split(' ')[index];
  return field === undefined ? undefined : Number(field);
}

function startSeconds(): number | undefined {
  const bootSeconds = numberIn(readProc('/proc/stat'), /^btime (\d+)$/m);
  const ticks = statField(STAT_START_TICKS);
  if (bootSeconds === undefined || ticks === undefined) return undefined;
  return bootSeconds + ticks / TICKS_PER_SECOND;
}

function cpuSeconds(): number | undefined {
  const user = statField(STAT_USER_TICKS);
  const system = statField(STAT_SYSTEM_TICKS);
  if (user === undefined || system === undefined) return undefined;
  return (user + system) / TICKS_PER_SECOND;
}

function limitOf(name: string): number | undefined {
  const limits = readProc('/proc/self/limits');
  const soft = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? UNLIMITED : Number(soft);
}

function openFiles(): number | undefined {
  try {
    // Reading the directory opens one more.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** In kB whatever the page size is. */
function residentBytes(): number | undefined {
  const kilobytes = numberIn(readProc('/proc/self/status'), /^VmRSS:\s+(\d+) kB$/m);
  return kilobytes === undefined ? undefined : kilobytes * 1024;
}

function networkBytes(name: string): number | undefined {
  const [names = [], values = []] = readProc('/proc/self/net/netstat')
    .split('\n')
    .filter((line) => line.startsWith('IpExt: '))
    .map((line) => line.split(' '));
  const value = values[names.indexOf(name)];
  return value === undefined ? undefined : Number(value);
}

function addFamily(registry: Registry, family: Family): void {
  const config = { name: family.name, help: family.help, registers: [registry] };
  if (family.read() === undefined) return;
  if (family.type === 'gauge') {
    const gauge: Gauge = new Gauge({ ...config, collect: () => gauge.set(family.read() ?? 0) });
    return;
  }
  const counter: Counter = new Counter({
    ...config,
    collect: () => {
      counter.reset();
      counter.inc(family.read() ?? 0);
    },
  });
}

/** Adds the families this system can tell (all on Linux), or only the start time. */
export function addProcessMetrics(registry: Registry, onlyStart: boolean): void {
  for (const family of onlyStart ? [START_FAMILY] : FAMILIES) addFamily(registry, family);
}
