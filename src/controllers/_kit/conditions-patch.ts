/** Strategic patches of lists of conditions. */

interface Typed {
  readonly type: string;
}

/**
 * The part of a strategic patch that sets some conditions and leaves all in the order in which they
 * are, new ones last: as if the whole status had been written.
 */
export function conditionsPatch<C extends Typed>(
  present: readonly Typed[] | undefined,
  changed: readonly C[],
): { readonly conditions: readonly C[]; readonly '$setElementOrder/conditions': Typed[] } {
  const types = [...new Set([...(present ?? []), ...changed].map(({ type }) => type))];
  // The server refuses a list that is in another order than it asks for.
  const conditions = types.flatMap((type) => changed.filter((one) => one.type === type));
  return { conditions, '$setElementOrder/conditions': types.map((type) => ({ type })) };
}
