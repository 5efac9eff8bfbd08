import type { Observer } from '../core/observeFailure.js'
import { SealError } from './errors.js'
import type { SealContext, Sealer } from './types.js'

/**
 * Opens a sealed secret. If the secret does not open, for example because
 * somebody changed or moved its row, reports that and returns `undefined`. So
 * one broken row does not stop the work on other orders.
 */
export async function openSealed(
  { sealer, observe }: Observer & { sealer: Sealer },
  sealed: string,
  context: SealContext,
): Promise<string | undefined> {
  try {
    return await sealer.open(sealed, context)
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    const { kind } = context
    const { name, message: words } = error
    observe({
      name: 'seal.broken',
      attributes: { kind, ...placeOf(context), error: name, words },
    })
    return undefined
  }
}

function placeOf(context: SealContext): Record<string, string | number> {
  switch (context.kind) {
    case 'voucher':
      return { channelId: context.channelId }
    case 'authorizer':
      return { shop: context.shop, account: context.account }
    case 'transaction': {
      const { account, accountNonce: nonce, chainId } = context
      return { account, nonce, chainId }
    }
    default: {
      const { orderId, attempt, chainId } = context
      return { orderId, attempt, chainId }
    }
  }
}
