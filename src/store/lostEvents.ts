/**
 * Cursors of events that a database skips once it has replaced another one. No
 * backup lacks as many events, so a new event never gets a cursor that readers
 * have seen.
 */
export const lostEvents = 1_000_000_000n
