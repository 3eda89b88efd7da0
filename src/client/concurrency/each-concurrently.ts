const CONCURRENCY = 10;

/**
 * The results of `act` on all items, in their order, `concurrency` at the same time. The first failure ends it, once
 * the rest of its batch has ended.
 */
export async function mapInBatches<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += concurrency)
    results.push(...(await Promise.allSettled(items.slice(from, from + concurrency).map(act))).map(fulfilled));
  return results;
}

/** Runs `act` on all items, a few at the same time. Throws the first failure once all have been tried. */
export async function eachConcurrently<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const tried = await mapInBatches(items, CONCURRENCY, (item) => Promise.allSettled([act(item)]));
  return tried.map(([outcome]) => fulfilled(outcome));
}

function fulfilled<Result>(outcome: PromiseSettledResult<Result>): Result {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
