import { NodeError } from './errors.js'

/**
 * Returns `undefined` when the node does not have the block, or refuses for
 * good. Throws temporary faults.
 */
export async function orNone<value>(
  asked: Promise<value>,
): Promise<value | undefined> {
  return asked.catch((error: unknown) => {
    if (!(error instanceof NodeError)) throw error
    const words = String(error.details.words)
    const isLimit = /\brate\b|limit|too many|quota|capacity/i.test(words)
    const isMissing = /block|header/i.test(words) && !isLimit
    if (error.retryable && !isMissing) throw error
    return undefined
  })
}
