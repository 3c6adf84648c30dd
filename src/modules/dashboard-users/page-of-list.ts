const PER_PAGE = 50;

/** Returns the part of a list that one page shows. @param cursor the ID of the last item before the page */
export function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  cursor: unknown,
): { readonly data: readonly Item[]; readonly next_cursor: string | null } {
  const start = items.findIndex(({ id }) => id === cursor) + 1;
  const data = items.slice(start, start + PER_PAGE);
  return { data, next_cursor: items.length > start + PER_PAGE ? (data.at(-1)?.id ?? null) : null };
}
