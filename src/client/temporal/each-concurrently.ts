const AT_ONCE = 10;

/** Runs `act` on all items, a few at the same time. Throws the first failure once all have been tried. */
export async function eachConcurrently<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let failed: unknown;
  for (let from = 0; from < items.length; from += AT_ONCE) {
    const some = await Promise.allSettled(items.slice(from, from + AT_ONCE).map(act));
    for (const one of some) {
      if (one.status === 'fulfilled') results.push(one.value);
      else failed ??= one.reason;
    }
  }
  if (failed !== undefined) throw failed;
  return results;
}
