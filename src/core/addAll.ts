/**
 * Adds any number of items to the end of a list. `push(...items)` would put
 * them all on the stack, which holds about 100,000.
 */
export function addAll<item>(list: item[], items: Iterable<item>): void {
  for (const item of items) list.push(item)
}
