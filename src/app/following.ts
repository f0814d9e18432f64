/** What the chosen controllers together follow beyond the resources they always watch. */
import type { Discovery } from '../kube/index.ts';
import type { Follows } from '../runtime/controller.ts';
import type { Following } from '../runtime/informer/follow.ts';
import type { RunConfig } from './config.ts';

/** Undefined if no controller follows anything; whole objects win over metadata. */
export function followingOf(
  { definitions, flagsOf }: Pick<RunConfig, 'definitions' | 'flagsOf'>,
  discover: () => Promise<Discovery>,
): Following | undefined {
  const all: readonly Follows[] = definitions.flatMap(
    (definition) => definition.follows?.(flagsOf(definition.name)) ?? [],
  );
  if (all.length === 0) return undefined;
  return {
    ties: all.some(({ ties }) => ties === true),
    discover,
    wants(resource) {
      const modes = all.map((follows) => follows.wants(resource));
      return modes.find((mode) => mode === 'whole') ?? modes.find((mode) => mode !== undefined);
    },
  };
}
