/** Which object a word means: "deployment/default/web", "node/worker-1". */
import type { Inspector } from '../inspect.ts';

/** An object as a word names it, or why it names none. */
export type Named =
  | { readonly resource: string; readonly key: string }
  | { readonly problem: string };

type Known = Pick<Inspector, 'resolveResource' | 'watches'>;

/** The one resource that a word means: an id, a plural, or a kind in any case. */
export function resourceNamed(
  inspector: Known,
  word: string,
): { readonly resource: string } | { readonly problem: string } {
  const ids = inspector.resolveResource(word);
  const [id] = ids;
  if (id !== undefined && ids.length === 1) return { resource: id };
  if (ids.length > 1) {
    return { problem: `${JSON.stringify(word)} may mean ${ids.join(' or ')}; say which` };
  }
  const known = inspector.watches(0).map(({ resource }) => resource);
  const valid = known.length === 0 ? 'none: nothing is cached yet' : known.join(', ');
  return { problem: `no cached resource is called ${JSON.stringify(word)}; valid are ${valid}` };
}

/** Resource and key of "KIND/NAME" or "KIND/NAMESPACE/NAME". */
export function objectNamed(inspector: Known, word: string): Named {
  const [kind = '', ...rest] = word.split('/');
  if (kind === '' || rest.length > 2 || rest.length === 0 || rest.includes('')) {
    const found = JSON.stringify(word);
    return { problem: `${found} names no object; valid is KIND/NAMESPACE/NAME or KIND/NAME` };
  }
  const named = resourceNamed(inspector, kind);
  return 'problem' in named ? named : { resource: named.resource, key: rest.join('/') };
}
