import { nextTurn } from './wait.js'

/**
 * Returns a function that resolves when it is the caller's turn. Each caller
 * gets a turn of the event loop of its own, so that computing in pieces does not
 * hold up anything else for longer than one piece.
 */
export function takeTurns(): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}
