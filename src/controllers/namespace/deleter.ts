/** One pass over a namespace that is being deleted: phase, content, conditions, finalizer. */
import { isConflict, isNotFound } from '../../api/errors.ts';
import { apiVersionOf, NAMESPACES } from '../../api/resource.ts';
import type { Namespace } from '../../api/types/index.ts';
import type { SyncRun } from '../../runtime/controller.ts';
import { type Findings, nextConditions } from './conditions.ts';
import { deleteKind, isPods } from './content.ts';
import { lookAgainMs } from './remaining.ts';
import { asFailure, type Discover, Tally } from './tally.ts';

const TYPE = { apiVersion: apiVersionOf(NAMESPACES), kind: NAMESPACES.kind };

/** The finalizer that this controller takes off. */
const FINALIZER = 'kubernetes';
/** Conflicting writes are made anew over a live read; then the key goes back to its queue. */
const CONFLICT_RETRIES_MAX = 10;

/**
 * Deletes what a namespace holds. Asks to come again while something is left that was expected to
 * take time; throws if something failed; takes its finalizer off once nothing is left.
 */
export async function deleteNamespace(
  run: SyncRun,
  name: string,
  discover: Discover,
): Promise<void> {
  const namespace = await unlessGone(prepare(run, name));
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  if ((namespace.spec?.finalizers ?? []).length === 0) return;
  const pass = await deleteContent(run, namespace, discover);
  if (pass.estimateSeconds > 0) {
    const because = `content is left, estimated ${pass.estimateSeconds} s until it is gone`;
    run.again(lookAgainMs(pass.estimateSeconds), because);
    return;
  }
  await unlessGone(retryOnConflict(run, pass.namespace, finalize));
}

/** The namespace as it is now; its phase says that it is going, if it is. */
async function prepare(run: SyncRun, name: string): Promise<Namespace> {
  const found = await run.client.get<Namespace>(NAMESPACES, { name });
  return await retryOnConflict(run, found, markTerminating);
}

/** Undefined if the namespace is gone for good, whoever took the last step. */
async function unlessGone(step: Promise<Namespace>): Promise<Namespace | undefined> {
  try {
    return await step;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

interface Pass {
  readonly namespace: Namespace;
  readonly estimateSeconds: number;
}

/** Pods first; other kinds only once no pod is left. Throws all failures together at the end. */
async function deleteContent(
  run: SyncRun,
  namespace: Namespace,
  discover: Discover,
): Promise<Pass> {
  const tally = new Tally();
  const kinds = await tally.discovered(discover);
  const name = namespace.metadata.name;
  for (const kind of kinds.filter(isPods)) {
    const { remainder, error } = await deleteKind(run, namespace, kind);
    const wrap = (text: string) => `failed to delete pods for namespace: ${name}, err: ${text}`;
    tally.deleted(kind, remainder, error, wrap);
  }
  const podsLeft = tally.somethingLeft;
  if (!podsLeft) {
    for (const kind of kinds.filter((each) => !isPods(each))) {
      const { remainder, error } = await deleteKind(run, namespace, kind);
      tally.deleted(kind, remainder, error, (text) => text);
    }
  }
  const stored = await writeConditions(run, namespace, tally.findings(podsLeft));
  tally.throwFailures();
  return { namespace: stored, estimateSeconds: tally.estimateSeconds };
}

/** A refused write of conditions is noted only: the pass goes on with what it knew. */
async function writeConditions(
  run: SyncRun,
  namespace: Namespace,
  findings: Findings,
): Promise<Namespace> {
  const conditions = nextConditions(namespace.status?.conditions ?? [], findings, run.now);
  if (conditions === undefined) return namespace;
  const troubles = conditions.filter(({ status }) => status === 'True').map(({ type }) => type);
  const because = `conditions: ${troubles.join(', ') || 'nothing holds the namespace'}`;
  try {
    return await putStatus(run, namespace, { ...namespace.status, conditions }, because);
  } catch (error) {
    run.note(`conditions not written: ${asFailure(error).message}`);
    return namespace;
  }
}

async function putStatus(
  run: SyncRun,
  namespace: Namespace,
  status: Namespace['status'],
  because: string,
): Promise<Namespace> {
  const at = { name: namespace.metadata.name, subresource: 'status' };
  const body = { ...namespace, ...TYPE, status };
  return await run.client.update<Namespace>(NAMESPACES, at, body, { because });
}

async function markTerminating(run: SyncRun, namespace: Namespace): Promise<Namespace> {
  const { metadata, status } = namespace;
  if (metadata.deletionTimestamp === undefined || status?.phase === 'Terminating') return namespace;
  const because = `deleted at ${metadata.deletionTimestamp}, phase was ${status?.phase}`;
  return await putStatus(run, namespace, { ...status, phase: 'Terminating' }, because);
}

async function finalize(run: SyncRun, namespace: Namespace): Promise<Namespace> {
  const { metadata, spec } = namespace;
  const others = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  const finalizers = [...new Set(others)].sort();
  const body = { ...TYPE, metadata, spec: { ...spec, finalizers } };
  const at = { name: metadata.name, subresource: 'finalize' };
  const because = `nothing is left in namespace ${metadata.name}: finalizer ${FINALIZER} goes`;
  return await run.client.update<Namespace>(NAMESPACES, at, body, { because });
}

/** Writes; on a conflict reads the namespace live and writes again, while it is the same one. */
async function retryOnConflict(
  run: SyncRun,
  namespace: Namespace,
  write: (run: SyncRun, namespace: Namespace) => Promise<Namespace>,
): Promise<Namespace> {
  let latest = namespace;
  for (let retry = 0; ; retry++) {
    try {
      return await write(run, latest);
    } catch (error) {
      if (!isConflict(error) || retry === CONFLICT_RETRIES_MAX) throw error;
    }
    const { name, uid } = latest.metadata;
    latest = await run.client.get<Namespace>(NAMESPACES, { name });
    if (latest.metadata.uid !== uid) throw new Error('namespace uid has changed across retries');
  }
}
