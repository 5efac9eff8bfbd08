import { setTimeout } from 'node:timers/promises'
import { capturePayment, preparePayment, signPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'

/** Payments with forty empty blocks after each. */
export async function payLongAgo(
  chain: DevChain,
  amounts: readonly string[],
): Promise<void> {
  for (const amount of amounts) {
    await payOne(chain, amount)
    await chain.clients.test.mine({ blocks: 40 })
  }
}

/** Payments one after the other, less than a block apart. */
export async function pay(
  chain: DevChain,
  amounts: readonly string[],
): Promise<void> {
  for (const amount of amounts) {
    await payOne(chain, amount)
    await setTimeout(600)
  }
}

async function payOne(chain: DevChain, amount: string): Promise<void> {
  const { payer, merchant, public: reader } = chain.clients
  const order = { token: chain.token, to: merchant.account.address, amount }
  const payment = await signPayment(payer, {
    payment: await preparePayment(reader, {
      ...order,
      from: payer.account.address,
    }),
    expect: { ...order, chainId: chain.chain.id },
  })
  await capturePayment(merchant, { payment })
}
