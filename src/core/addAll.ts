/**
 * Adds any number of items to the end of a list. `push(...items)` fails with
 * about 100,000 items, because it puts each on the call stack.
 */
export function addAll<item>(list: item[], items: Iterable<item>): void {
  for (const item of items) list.push(item)
}
