/** Pages of lists: newest first, each page begins behind the last item of the one before. */

export interface PageQuery {
  readonly limit: number;
  /** seq of the last item of the page before */
  readonly before?: number | undefined;
}

/** @param rows one more than the limit, where there is one */
export async function pageOf<Row extends { readonly seq: number }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Promise<Item> | Item,
): Promise<{ items: Item[]; next?: string }> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: await Promise.all(shown.map(view)),
    ...(rows.length > limit && last !== undefined ? { next: `${last.seq}` } : {}),
  };
}
