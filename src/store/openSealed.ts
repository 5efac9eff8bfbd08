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
    const { name, message: words } = error
    observe({
      name: 'seal.broken',
      attributes: {
        kind: context.kind,
        ...shownPlace(context),
        error: name,
        words,
      },
    })
    return undefined
  }
}

function shownPlace(context: SealContext): Record<string, string | number> {
  if (context.kind === 'voucher') return { channelId: context.channelId }
  const { chainId } = context
  if (context.kind !== 'transaction') {
    const { orderId, attempt } = context
    return { orderId, attempt, chainId }
  }
  return { account: context.account, nonce: context.accountNonce, chainId }
}
