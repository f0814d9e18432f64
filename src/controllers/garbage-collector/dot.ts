/** The graph in the DOT language of Graphviz, as the debug endpoint shows it. */
import type { Graph } from './graph.ts';
import { type Identity, identityOf } from './identity.ts';
import type { Node } from './node.ts';

interface Vertex {
  readonly identity: Identity;
  readonly missing: boolean;
  readonly deleting: boolean;
  readonly waits: boolean;
  readonly virtual: boolean;
}

/** Nodes that have owners or dependents; with UIDs only what these are linked to, near and far. */
export function graphText(graph: Graph, uids: readonly string[]): string {
  const chosen = uids.length === 0 ? graph.all() : linkedTo(graph, uids);
  const nodes = [...chosen].filter((node) => node.dependents.size > 0 || node.owners.length > 0);
  const vertices = new Map(nodes.map((node) => [node.uid, vertexOf(node)]));
  const edges: (readonly [string, string])[] = [];
  for (const node of nodes) {
    for (const reference of node.owners) {
      if (!vertices.has(reference.uid)) {
        const identity = identityOf(reference, '');
        vertices.set(reference.uid, { ...PLAIN, identity, missing: true });
      }
      edges.push([node.uid, reference.uid]);
    }
  }
  const sorted = [...vertices.values()].sort((a, b) => compare(a.identity.uid, b.identity.uid));
  edges.sort((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
  return [
    'strict digraph full {\n',
    ...(sorted.length === 0 ? [] : ['  // Node definitions.\n', ...sorted.map(vertexText)]),
    ...(edges.length === 0 ? [] : ['  // Edge definitions.\n', ...edges.map(edgeText)]),
    '}\n',
  ].join('');
}

const PLAIN = { missing: false, deleting: false, waits: false, virtual: false };

function linkedTo(graph: Graph, uids: readonly string[]): Iterable<Node> {
  const found = new Map<string, Node>();
  const waiting = [...uids];
  for (let uid = waiting.pop(); uid !== undefined; uid = waiting.pop()) {
    const node = found.has(uid) ? undefined : graph.get(uid);
    if (node === undefined) continue;
    found.set(uid, node);
    for (const owner of node.owners) waiting.push(owner.uid);
    for (const dependent of node.dependents) waiting.push(dependent.uid);
  }
  return found.values();
}

function vertexOf(node: Node): Vertex {
  const { identity, deleting, virtual } = node;
  return { identity, missing: false, deleting, waits: node.waitsForDependents, virtual };
}

function vertexText(vertex: Vertex): string {
  const { namespace, name, uid, apiVersion, kind } = vertex.identity;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const attributes: readonly (readonly [string, string])[] = [
    ['label', labelOf(vertex, group, version)],
    ['group', group],
    ['version', version],
    ['kind', kind],
    ['namespace', namespace],
    ['name', name],
    ['uid', uid],
    ['missing', String(vertex.missing)],
    ['beingDeleted', String(vertex.deleting)],
    ['deletingDependents', String(vertex.waits)],
    ['virtual', String(vertex.virtual)],
  ];
  const lines = attributes.map(([key, value]) => `    ${key}=${quoted(value)}\n`);
  return `  ${quoted(uid)} [\n${lines.join('')}  ];\n`;
}

function labelOf(vertex: Vertex, group: string, version: string): string {
  const { namespace, name, uid, kind } = vertex.identity;
  const type = [kind, version, ...(group === '' ? [] : [group])].join('.');
  const states = [
    ...(vertex.deleting ? ['beingDeleted'] : []),
    ...(vertex.waits ? ['deletingDependents'] : []),
    ...(vertex.virtual ? ['virtual'] : []),
    ...(vertex.missing ? ['missingFromGraph'] : []),
  ];
  const state = states.length === 0 ? '' : `${states.join(',')}\n`;
  return `uid=${uid}\nnamespace=${namespace}\n${type}/${name}\n${state}`;
}

function edgeText([from, to]: readonly [string, string]): string {
  return `  ${quoted(from)} -> ${quoted(to)};\n`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
