import { errorName } from '../../core/errorName.js'
import { redact } from '../../core/redact.js'
import { hideSecrets } from './hideSecrets.js'
import type { ExitCode } from './types.js'

/** What a failed command prints to `stderr`, and its exit code. */
export type Failure = { text: string; code: ExitCode }

/**
 * Describes an error without a stack trace. Removes long hex and base64 from
 * its text, because errors of other libraries can quote keys, signatures or
 * requests.
 */
export function describeFailure(error: unknown): Failure {
  const { message } = Object(error)
  const words = typeof message === 'string' ? message : 'unknown error'
  const isOurs = typeof Object(error).toJSON === 'function'
  const text = isOurs
    ? hideSecrets(words)
    : `${errorName(error)}: ${redact(words)}`
  return { text, code: codeOf(error) }
}

/**
 * Chooses the exit code by the error's name. `instanceof` would fail, because
 * the configuration loads its own copy of this package, with other classes.
 */
function codeOf(error: unknown): ExitCode {
  const { name, retryable } = Object(error)
  if (wrongUse.includes(name)) return 2
  if (name === 'NodeError' || (name === 'StoreError' && retryable === true))
    return 3
  return 1
}

const wrongUse: readonly unknown[] = [
  'UsageError',
  'ConfigError',
  'InvalidFieldError',
  'InvalidAmountError',
  'AccountError',
]
