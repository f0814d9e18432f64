/** Which nodes a pod may run on by its node selector and its required node affinity. */
import { parseInt64 } from './integer.ts';
import { labelKeyProblems, labelValueProblems } from './label-syntax.ts';
import type { StringMap } from './meta.ts';
import { selectorFromMap } from './selector.ts';
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from './types/index.ts';

/** The field that a term may match besides labels. */
export const NODE_NAME_FIELD = 'metadata.name';

/** What is read of a node to say whether a pod may run there. */
export interface NodeIdentity {
  readonly name: string;
  readonly labels: StringMap;
}

type NodeTest = (node: NodeIdentity) => boolean;

const NEVER: NodeTest = () => false;

/** Gt and Lt: the label's number against the one given; a label that is no number doesn't match. */
function comparisonTest(key: string, greater: boolean, values: readonly string[]): NodeTest {
  const [text] = values;
  const limit = values.length === 1 && text !== undefined ? parseInt64(text) : undefined;
  if (limit === undefined) return NEVER;
  return ({ labels }) => {
    const value = parseInt64(labels[key] ?? '');
    return value !== undefined && (greater ? value > limit : value < limit);
  };
}

/** Undefined if the requirement is malformed: then its whole term matches nothing. */
function labelTest(requirement: NodeSelectorRequirement): NodeTest | undefined {
  const { key, operator, values = [] } = requirement;
  const bad = labelKeyProblems(key).length > 0;
  if (bad || values.some((value) => labelValueProblems(value).length > 0)) return undefined;
  switch (operator) {
    case 'In':
      if (values.length === 0) return undefined;
      return ({ labels }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? '');
    case 'NotIn':
      if (values.length === 0) return undefined;
      return ({ labels }) => !Object.hasOwn(labels, key) || !values.includes(labels[key] ?? '');
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) return undefined;
      return ({ labels }) => Object.hasOwn(labels, key) === (operator === 'Exists');
    case 'Gt':
    case 'Lt':
      return comparisonTest(key, operator === 'Gt', values);
    default:
      return undefined;
  }
}

/** As `labelTest`, over fields: a node has but its name, any other field is empty. */
function fieldTest(requirement: NodeSelectorRequirement): NodeTest | undefined {
  const { key, operator, values = [] } = requirement;
  const [value] = values;
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return ({ name }) => ((key === NODE_NAME_FIELD ? name : '') === value) === (operator === 'In');
}

function termTest({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): NodeTest {
  const tests = [...matchExpressions.map(labelTest), ...matchFields.map(fieldTest)];
  if (tests.length === 0) return NEVER;
  const good = tests.filter((test) => test !== undefined);
  return good.length === tests.length ? (node) => good.every((test) => test(node)) : NEVER;
}

/** Terms are alternatives; an empty or malformed one matches nothing, nor does a list of none. */
export function nodeSelectorTest(selector: NodeSelector): NodeTest {
  const terms = (selector.nodeSelectorTerms ?? []).map(termTest);
  return (node) => terms.some((test) => test(node));
}

/** Both the node selector and the required node affinity of a pod must match. */
export function requiredNodeTest(spec: {
  readonly nodeSelector?: StringMap;
  readonly affinity?: Affinity;
}): NodeTest {
  const { matches } = selectorFromMap(spec.nodeSelector);
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const affinityTest = required === undefined ? undefined : nodeSelectorTest(required);
  return (node) => matches(node.labels) && (affinityTest?.(node) ?? true);
}
