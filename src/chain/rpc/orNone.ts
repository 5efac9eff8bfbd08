import { NodeError } from './errors.js'

/**
 * Resolves to `undefined` when the node does not have the block, or refuses the
 * request for good. Throws on temporary failures.
 */
export async function orNone<value>(
  asked: Promise<value>,
): Promise<value | undefined> {
  return asked.catch((error: unknown) => {
    if (!(error instanceof NodeError)) throw error
    const { kind, details } = error
    // Some nodes report a missing block as an internal error.
    const isMissing =
      kind === 'headBehind' ||
      (kind === 'internal' && /block|header/i.test(String(details.words)))
    if (error.retryable && !isMissing) throw error
    return undefined
  })
}
