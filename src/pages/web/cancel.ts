import type { BuyerClient, BuyerState } from '../../client/BuyerClient.js'
import { signCancellation } from '../../payments/sign/signCancellation.js'
import { loadCeilings, requestDraft } from './draft.js'
import { WrongAccount } from './failures.js'
import { checkWalletChain } from './network.js'
import type { PageToken } from './pageData.js'
import type { Connection } from './wallets.js'

type CancelParameters = {
  buyer: BuyerClient
  /** The order as the page shows it. */
  shown: BuyerState
  connection: Connection
  token: PageToken
  signal: AbortSignal
}

type Taken = Awaited<ReturnType<BuyerClient['sendCancellation']>>

/**
 * Has the wallet sign the end of a payment. The shop sends it; the end of a
 * permit the buyer sends.
 */
export async function cancel(parameters: CancelParameters): Promise<Taken> {
  const { buyer, shown, connection, token, signal } = parameters
  const { account, wallet } = connection
  await checkWalletChain(connection, token)
  const cancellation = await buyer
    .cancellationToSign({ signal })
    .catch((error: unknown) => {
      const { reason } = Object(error)
      if (reason !== 'unsupportedToken') throw error
    })
  if (!cancellation) {
    const draft = await requestDraft(buyer, signal)
    const { signPermitEnd } = await loadCeilings()
    const asked = { draft, connection, token, signal }
    return { order: shown, call: await signPermitEnd(asked) }
  }
  const { authorizer } = cancellation.message
  if (authorizer.toLowerCase() !== account) throw new WrongAccount(authorizer)
  const signed = await signCancellation(
    { request: (args) => wallet.provider.request(args), account },
    {
      cancellation,
      expect: { chainId: token.chainId, token: token.token },
      signal,
    },
  )
  return buyer.sendCancellation(signed, { signal })
}

/** Sends the cancellation that the shop does not send. */
export async function sendCancellation(
  connection: Connection,
  token: PageToken,
  call: NonNullable<Taken['call']>,
): Promise<void> {
  await checkWalletChain(connection, token)
  const params = [{ from: connection.account, to: call.to, data: call.data }]
  await connection.wallet.provider.request({
    method: 'eth_sendTransaction',
    params,
  })
}
