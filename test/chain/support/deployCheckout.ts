import { checkoutAddress, checkoutDeployment } from 'countersign/checkout'
import type { DevChain } from 'countersign/devchain'
import {
  getCode,
  sendTransaction,
  waitForTransactionReceipt,
} from 'viem/actions'

/** Puts the checkout contract on a chain that does not have it yet. */
export async function deployCheckout({ clients }: DevChain): Promise<void> {
  const { public: client, relayer } = clients
  if (await getCode(client, { address: checkoutAddress })) return
  const hash = await sendTransaction(relayer, checkoutDeployment())
  await waitForTransactionReceipt(client, { hash })
}
