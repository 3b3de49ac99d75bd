/** Does the work for all items in their order, for so many of them at a time. Rejects with the first error. */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
