import type { BuyerClient } from '../../client/BuyerClient.js'
import { signCancellation } from '../../payments/sign/signCancellation.js'
import { WrongAccount } from './failures.js'
import type { PageToken } from './pageData.js'
import { checkWalletChain } from './pay.js'
import type { Connection } from './wallets.js'

type CancelParameters = {
  buyer: BuyerClient
  connection: Connection
  token: PageToken
  signal: AbortSignal
}

type Taken = Awaited<ReturnType<BuyerClient['sendCancellation']>>

/** Has the wallet sign the end of a payment; the shop sends it. */
export async function cancel({
  buyer,
  connection,
  token,
  signal,
}: CancelParameters): Promise<Taken> {
  const { account, wallet } = connection
  await checkWalletChain(connection, token)
  const cancellation = await buyer.cancellationToSign({ signal })
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
