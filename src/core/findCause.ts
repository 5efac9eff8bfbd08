/**
 * Finds the error of a name in a chain of causes. Compares names, because a
 * process can hold viem more than once, each time with other classes.
 */
export function findCause(error: unknown, name: string): object | undefined {
  let at = error
  for (let depth = 0; at && depth < 10; depth++) {
    if (Object(at).name === name) return Object(at)
    at = Object(at).cause
  }
  return undefined
}
