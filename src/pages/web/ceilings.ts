/** What only payments with a ceiling need. Pages load it when there is one. */

import { checkoutSigning, permitSigning } from '../../checkout/signingKinds.js'
import { signPermitCancellation } from '../../checkout/signPermitCancellation.js'
import type { PermitPayment } from '../../checkout/types.js'
import type { BuyerClient, ClientKind } from '../../client/BuyerClient.js'
import { UnexpectedPaymentError } from '../../payments/sign/errors.js'
import { WrongAccount } from './failures.js'
import type { PageToken } from './pageData.js'
import type { Connection } from './wallets.js'

/** How a payment with a ceiling is signed. */
export function ceilingKind(primaryType: string): ClientKind {
  return primaryType === 'Permit' ? permitSigning : checkoutSigning
}

type PermitEndParameters = {
  /** The payment as the shop drafted it, not yet decoded. */
  draft: unknown
  connection: Connection
  token: PageToken
  signal: AbortSignal
}

/**
 * Has the wallet sign a permit of zero in the place of the payment's. Returns
 * the call that the buyer sends: the shop submits no permits by themselves.
 */
export async function signPermitEnd({
  draft,
  connection,
  token,
  signal,
}: PermitEndParameters): Promise<
  NonNullable<Awaited<ReturnType<BuyerClient['sendCancellation']>>['call']>
> {
  const { account, wallet } = connection
  const payment = permitSigning.decode(draft) as PermitPayment
  const { from } = payment.message
  if (from !== account) throw new WrongAccount(from)
  const { chainId, verifyingContract } = payment.domain
  if (chainId !== token.chainId || verifyingContract !== token.token)
    throw new UnexpectedPaymentError('token', verifyingContract, token.token)
  return signPermitCancellation(
    { request: (args) => wallet.provider.request(args), account },
    { payment, signal },
  )
}
