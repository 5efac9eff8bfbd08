import { nextTurn } from './wait.js'

/**
 * Returns a function that resolves when it is the caller's turn. Each caller
 * gets its own turn of the event loop, so long computations in pieces block
 * other work for one piece at most.
 */
export function takeTurns(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}
