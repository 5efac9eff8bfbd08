/**
 * Adds items to the end of a list, however many: the arguments of
 * `push(...items)` are put on the stack, which holds about 100,000.
 */
export function addAll<item>(list: item[], items: Iterable<item>): void {
  for (const item of items) list.push(item)
}
