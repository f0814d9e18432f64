/** Which object a word means: "deployment/default/web", "deploy/default/web", "node/worker-1". */
import type { Inspector } from '../inspect.ts';
import { builtInNamed, isNamespaced, shortNameOf } from './resource-words.ts';

/** An object as a word names it, or why it names none. */
export type Named =
  | { readonly resource: string; readonly key: string }
  | { readonly problem: string };

type Known = Pick<Inspector, 'resolveResource' | 'watches'>;

/** The one resource that a word means: an id, a plural, a kind or a short name, in any case. */
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
  const known = inspector.watches(0).map(({ resource }) => withShortName(resource));
  const valid = known.length === 0 ? 'none: nothing is cached yet' : known.join(', ');
  const builtIn = builtInNamed(word);
  const found =
    builtIn === undefined
      ? `no cached resource is called ${JSON.stringify(word)}`
      : `${JSON.stringify(word)} is ${builtIn}, which is not cached`;
  return { problem: `${found}; valid are ${valid}` };
}

function withShortName(resource: string): string {
  const short = shortNameOf(resource);
  return short === undefined ? resource : `${resource} (${short})`;
}

/** Resource and key of "KIND/NAME" or "KIND/NAMESPACE/NAME". */
export function objectNamed(inspector: Known, word: string): Named {
  const [kind = '', ...rest] = word.split('/');
  const shown = JSON.stringify(word);
  if (kind === '' || rest.length > 2 || rest.length === 0 || rest.includes('')) {
    return { problem: `${shown} names no object; valid is KIND/NAMESPACE/NAME or KIND/NAME` };
  }
  const named = resourceNamed(inspector, kind);
  if ('problem' in named) return named;
  const { resource } = named;
  const namespaced = isNamespaced(resource);
  const name = rest.at(-1) ?? '';
  if (namespaced === true && rest.length === 1) {
    const valid = `${kind}/NAMESPACE/${name}`;
    return { problem: `${shown} lacks the namespace; valid is ${valid}` };
  }
  if (namespaced === false && rest.length === 2) {
    return { problem: `${shown}: ${resource} have no namespace; valid is ${kind}/${name}` };
  }
  return { resource, key: rest.join('/') };
}
