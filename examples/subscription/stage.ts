import { setTimeout as sleep } from 'node:timers/promises'
import type { DevChain } from 'countersign/devchain'
import type { OrderEvent, Orders } from 'countersign/orders'
import { spendPermissionManager } from 'countersign/subscriptions'
import {
  type ToCoinbaseSmartAccountReturnType,
  toCoinbaseSmartAccount,
} from 'viem/account-abstraction'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { increaseTime, mine } from 'viem/actions'

/**
 * A wallet as Base makes them, with the manager among its owners. It is not
 * deployed yet: its first charge does that.
 */
export async function openWallet(
  chain: DevChain,
  value: bigint,
): Promise<ToCoinbaseSmartAccountReturnType> {
  const wallet = await toCoinbaseSmartAccount({
    client: chain.clients.public,
    owners: [privateKeyToAccount(generatePrivateKey()), spendPermissionManager],
    version: '1.1',
  })
  await chain.mint({ to: wallet.address, value })
  return wallet
}

/** Moves the chain's clock. */
export async function pass(chain: DevChain, seconds: bigint): Promise<void> {
  await increaseTime(chain.clients.test, { seconds: Number(seconds) })
  await mine(chain.clients.test, { blocks: 1 })
}

/** Returns a function that prints the events up to one of a type. */
export function follow(
  orders: Orders,
): (until: OrderEvent['type']) => Promise<void> {
  let after = 0n
  return async (until) => {
    for (;;) {
      const { events } = await orders.events({ after })
      for (const event of events) {
        after = event.cursor
        show(event)
        if (event.type === until) return
      }
      await sleep(50)
    }
  }
}

function show({ type, orderId, data }: OrderEvent): void {
  if (type === 'captured') console.log(`  ${orderId.split('/')[1]}: paid`)
  if (type === 'subscriptionPastDue' || type === 'subscriptionUnpaid')
    console.log(`  period-${data.period}: ${data.reason} (${type})`)
  if (type === 'canceled') console.log('  revoked on chain')
}
