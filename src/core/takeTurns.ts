import { nextTurn } from './wait.js'

/**
 * Returns a function that resolves when it is the caller's turn. Each caller
 * gets its own turn of the event loop. So a long computation can be split in
 * pieces, between which other work runs.
 */
export function takeTurns(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}
