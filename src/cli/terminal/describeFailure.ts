import { redact } from '../../core/redact.js'
import { hideSecrets } from './hideSecrets.js'
import type { ExitCode } from './types.js'

/** What a failed command prints, and its exit code. */
export type Failure = { text: string; code: ExitCode }

/**
 * Describes what went wrong without a stack trace and without secrets: other
 * errors than ours may quote keys, signatures or requests, so long hex and
 * base64 are left out.
 */
export function describeFailure(error: unknown): Failure {
  const { name, message } = Object(error)
  const words = typeof message === 'string' ? message : 'unknown error'
  const isOurs = typeof Object(error).toJSON === 'function'
  const text = isOurs ? hideSecrets(words) : `${kindOf(name)}: ${redact(words)}`
  return { text, code: codeOf(error) }
}

/** A name that an error class could have. */
function kindOf(name: unknown): string {
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'Error'
}

/**
 * By the name of the error: a configuration loads another copy of this package,
 * whose classes are not ours.
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
