import process from 'node:process'

/** Ends the process with an error, so that what started it starts it again. */
export function endWith(error: unknown): never {
  console.error(String(error))
  process.exit(1)
}
