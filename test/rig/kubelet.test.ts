/** What simulated kubelets tell a metrics server. */
import { afterAll, expect, test } from 'bun:test';
import type { Obj } from './api.ts';
import { Kubelets, type RunningPod } from './kubelet.ts';
import { amount, Meter, usageOf } from './pod-usage.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const pods: RunningPod[] = [];
const kubelets = new Kubelets(() => pods);

afterAll(() => kubelets.closeAll());

function pod(annotations?: Record<string, string>): Obj {
  return { metadata: { annotations } } as unknown as Obj;
}

test('quantities', () => {
  expect(['250m', '2', '0.5', '64Mi', '1k'].map(amount)).toEqual([0.25, 2, 0.5, 67_108_864, 1000]);
  expect(() => amount('many')).toThrow('"many" is no quantity');
});

test('a counter goes on from where it was when the use changes', () => {
  const notes = { 'sim.holdfast.dev/cpu': '250m', 'sim.holdfast.dev/memory': '64Mi' };
  const meter = new Meter(START, usageOf(pod(notes)));
  expect(meter.read(START + 2000)).toEqual({ cpuSeconds: 0.5, memoryBytes: 67_108_864 });
  meter.change(usageOf(pod()), START + 4000);
  expect(meter.read(START + 5000)).toEqual({ cpuSeconds: 1.001, memoryBytes: 1_048_576 });
});

test('a node tells of its pods and of itself, until its kubelet stops', async () => {
  const meter = new Meter(START, { cpuMilli: 100, memoryBytes: 4096 });
  pods.push({ namespace: 'n', name: 'p', uid: 'u', containers: ['a', 'b'], meter });
  const port = await kubelets.serve('node-0');
  const ask = (path: string) =>
    fetch(`https://127.0.0.1:${port}${path}`, {
      proxy: false,
      tls: { rejectUnauthorized: false },
    } as RequestInit);
  const text = await (await ask('/metrics/resource')).text();
  for (const container of ['a', 'b']) {
    const labels = `{container="${container}",namespace="n",pod="p"}`;
    expect(text).toContain(`container_start_time_seconds${labels} 1767225600\n`);
    expect(text).toContain(`container_memory_working_set_bytes${labels} 4096 1`);
    const cpu = `container_cpu_usage_seconds_total${labels} `;
    const [seconds, at] = text.split(cpu)[1]?.split('\n')[0]?.split(' ').map(Number) ?? [];
    expect(seconds).toBeCloseTo((Number(at) - START) / 10_000, 6);
  }
  expect(text).toMatch(/^node_cpu_usage_seconds_total \d+\.\d{6} \d{13}$/m);
  expect(text).toMatch(/^node_memory_working_set_bytes 268443648 \d{13}$/m);
  expect((await ask('/metrics')).status).toBe(404);
  kubelets.close('node-0');
  await expect(ask('/metrics/resource')).rejects.toThrow();
  expect(await kubelets.serve('node-0')).toBe(port);
});
