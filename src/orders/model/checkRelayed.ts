import type { Address } from 'viem'
import { OrdersSetupError } from './errors.js'
import { sendersOf } from './sendersOf.js'
import type { Senders } from './types.js'

/**
 * Refuses recipients for which no configured wallet would send captures and pay
 * the gas.
 * @throws {@link OrdersSetupError}
 */
export function checkRelayed(
  chainId: number,
  {
    wallets,
    relayers,
    others,
  }: Senders & {
    others: readonly Address[]
  },
): void {
  const alone = others.find(
    (recipient) =>
      sendersOf({ wallets, relayers }, { chainId, recipient }).length === 0,
  )
  if (alone === undefined) return
  throw new OrdersSetupError(
    `need a wallet that sends payments to ${alone} on chain ${chainId}: add its wallet, or name accounts of other wallets in relayers`,
    { chainId, recipient: alone },
  )
}
