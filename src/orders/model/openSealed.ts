import { SealError } from '../../store/errors.js'
import type { SealContext } from '../../store/types.js'
import type { OrdersContext } from './types.js'

/**
 * Opens what is sealed; nothing where it does not open, as after a row was
 * changed or moved: that stops no other order.
 */
export async function openSealed(
  { sealer, observe }: Pick<OrdersContext, 'sealer' | 'observe'>,
  sealed: string,
  context: SealContext,
): Promise<string | undefined> {
  try {
    return await sealer.open(sealed, context)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    const { kind, orderId, attempt, chainId } = context
    const { name, message: words } = error
    observe({
      name: 'seal.broken',
      attributes: { kind, orderId, attempt, chainId, error: name, words },
    })
    return undefined
  }
}
