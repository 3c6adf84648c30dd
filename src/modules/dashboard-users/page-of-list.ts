const PER_PAGE = 50;

/** Returns the part of a list that one page shows. @param cursor the ID of the last item before the page */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  cursor: unknown,
): { readonly shown: readonly Item[]; readonly nextCursor: string | null } {
  const start = items.findIndex(({ id }) => id === cursor) + 1;
  const shown = items.slice(start, start + PER_PAGE);
  return { shown, nextCursor: items.length > start + PER_PAGE ? (shown.at(-1)?.id ?? null) : null };
}
