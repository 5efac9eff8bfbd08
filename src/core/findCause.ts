/**
 * Finds the error with this `name` in a chain of `cause`s. Compares names and
 * not classes, because a process can load viem twice and then has two classes
 * for each error.
 */
export function findCause(error: unknown, name: string): object | undefined {
  let at = error
  for (let depth = 0; at && depth < 10; depth++) {
    if (Object(at).name === name) return Object(at)
    at = Object(at).cause
  }
  return undefined
}
