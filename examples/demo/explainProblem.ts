import { AssertionError } from 'node:assert'

/**
 * What went wrong, in one line. Errors of countersign never hold a signature,
 * but those of other libraries print calldata, so long hex is cut.
 */
export function explainProblem(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error))
  const told =
    error instanceof AssertionError && error.generatedMessage
      ? `expected ${JSON.stringify(error.expected)}, got ${JSON.stringify(error.actual)}`
      : (message.split('\n')[0] ?? message)
  return told.replace(/[\da-f]{65,}/gi, '…')
}
