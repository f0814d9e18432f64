/** Placement and pods against what upstream's own code answered (test/rig/gen/placement). */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { PodSpec, PodTemplateSpec } from '../../api/types/index.ts';
import { type NodeFacts, placementRule } from './placement.ts';
import { HASH_LABEL, pinnedNode, pinnedTemplate, podTemplate } from './pod.ts';
import { daemonSet } from './testing/build.ts';

interface Placed {
  readonly node: NodeFacts & { readonly taints: NodeFacts['taints'] | null };
  readonly spec: PodSpec;
  readonly without: string;
  readonly with: string;
}

interface Made {
  readonly spec: PodSpec;
  readonly pod: PodTemplateSpec;
}

function linesOf<T>(name: string): T[] {
  const text = readFileSync(new URL(`./testdata/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

/** As the API gives it: what is null or empty there is left out. */
function asStored(spec: PodSpec): PodSpec {
  const text = JSON.stringify(spec, (_, value) => value ?? undefined);
  return { containers: [], ...JSON.parse(text) } as PodSpec;
}

const LABELS = { app: 'agent' };

function setOf(spec: PodSpec) {
  const annotations = { 'deprecated.daemonset.template.generation': '3' };
  return daemonSet({
    template: { metadata: { labels: LABELS }, spec: asStored(spec) },
    annotations,
  });
}

describe('where a set runs', () => {
  test.each([false, true])('TaintTolerationComparisonOperators %p', (comparison) => {
    const rows = linesOf<Placed>('placement-v1.36.3.jsonl');
    expect(rows.length).toBeGreaterThan(200);
    for (const row of rows) {
      const node = { ...row.node, taints: row.node.taints ?? [] };
      const { shouldRun, mayStay } = placementRule(setOf(row.spec), { comparison })(node);
      const answer = shouldRun ? 'run' : mayStay ? 'stay' : 'no';
      expect({ row, answer }).toEqual({ row, answer: comparison ? row.with : row.without });
    }
  });
});

describe('the pod of a node', () => {
  test('has the labels, tolerations and affinity that upstream gives it', () => {
    for (const { spec, pod } of linesOf<Made>('pods-v1.36.3.jsonl')) {
      const made = pinnedTemplate(podTemplate(setOf(spec), 'hash'), 'n1');
      expect(made.metadata?.labels).toEqual({ ...LABELS, ...pod.metadata?.labels });
      expect(made.metadata?.labels?.[HASH_LABEL]).toBe('hash');
      expect(made.spec?.tolerations).toEqual(pod.spec!.tolerations!);
      expect(made.spec?.affinity).toEqual(pod.spec!.affinity!);
    }
  });

  test('is found again by its affinity while it waits to be scheduled', () => {
    const waiting = (spec: PodSpec) => {
      const metadata = { name: 'p', uid: 'u', resourceVersion: '1' };
      return pinnedNode({ metadata, spec });
    };
    const pinned = pinnedTemplate(podTemplate(daemonSet(), 'hash'), 'n1').spec!;
    expect(waiting(pinned)).toBe('n1');
    expect(waiting({ containers: [] })).toBeUndefined();
    const withTerms = (...matchFields: object[]) => {
      const required = {
        nodeSelectorTerms: matchFields.map((field) => ({ matchFields: [field] })),
      };
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
      return waiting({ containers: [], affinity: { nodeAffinity } } as PodSpec);
    };
    const name = { key: 'metadata.name', operator: 'In' };
    expect(withTerms({ ...name, values: ['n1', 'n2'] })).toBeUndefined();
    expect(withTerms({ ...name, operator: 'NotIn', values: ['n1'] })).toBeUndefined();
    expect(withTerms({ key: 'x', operator: 'In', values: ['n1'] })).toBeUndefined();
    expect(withTerms({ key: 'x', operator: 'In' }, { ...name, values: ['n2'] })).toBe('n2');
  });
});
