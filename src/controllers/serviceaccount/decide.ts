/** Which ServiceAccounts a namespace lacks. */
import type { Namespace } from '../../api/types/index.ts';

/** ServiceAccounts that every active namespace must have. */
export const ENSURED_NAMES = ['default'] as const;

/** What a decision looks at. */
export interface Observed {
  /** Undefined if it is gone. */
  readonly namespace: Namespace | undefined;
  /** True if the namespace has a ServiceAccount of this name. */
  has(name: string): boolean;
}

export interface Creation {
  readonly name: string;
  readonly because: string;
}

/** ServiceAccounts to create; none in a namespace that isn't Active. */
export function decide({ namespace, has }: Observed): readonly Creation[] {
  if (namespace?.status?.phase !== 'Active') return [];
  return ENSURED_NAMES.filter((name) => !has(name)).map((name) => ({
    name,
    because: `namespace ${namespace.metadata.name} is Active and has no ServiceAccount ${name}`,
  }));
}
