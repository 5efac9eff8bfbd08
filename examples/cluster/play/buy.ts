import { type Payment, signPayment } from 'countersign'
import {
  createBuyerClient,
  createMerchantClient,
  type MerchantClient,
} from 'countersign/client'
import type { DevChain } from 'countersign/devchain'
import {
  type Address,
  type Chain,
  createWalletClient,
  type Hex,
  http,
  type PrivateKeyAccount,
  type Transport,
  type WalletClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** What somebody wanted to buy, and what came of it. */
export type Purchase = {
  id: string
  /** Nonces of all payments that were signed for it. */
  nonces: Set<Hex>
  /** The shop has confirmed the payment. */
  isAccepted: boolean
  /** What was asked back, and the shop has confirmed it. */
  isRefunded: boolean
  /** The database lacked an order that the shop had confirmed. */
  isForgotten: boolean
  /** Failures that no later try can mend. */
  problems: string[]
}

/** Buyers, and the shop's own program, at two web processes. */
export type Counter = {
  buy(id: string): Promise<Purchase>
  refund(purchase: Purchase, isOver: () => boolean): Promise<void>
  /** How often a request was refused for now. */
  refusals(): number
}

const price = '1.00'
const part = '0.40'

type Place = {
  chain: DevChain
  urls: readonly string[]
  merchantKey: string
  recipient: Address
}

type Wallet = WalletClient<Transport, Chain, PrivateKeyAccount>

const numBuyers = 20

export async function openCounter({
  chain,
  urls,
  merchantKey,
  recipient,
}: Place): Promise<Counter> {
  const wallets: Wallet[] = []
  for (let at = 0; at < numBuyers; at++) {
    const account = privateKeyToAccount(generatePrivateKey())
    await chain.mint({ to: account.address, value: 10n ** 12n })
    const transport = http(chain.urls.http)
    wallets.push(createWalletClient({ account, chain: chain.chain, transport }))
  }
  let refused = 0
  let turn = 0
  /** Tries again by itself whenever a server is away or busy. */
  const connection = () => ({
    url: urls[turn++ % urls.length] ?? '',
    retries: 30,
    onRetry: () => {
      refused++
    },
  })
  const ask = async <answer>(
    purchase: Purchase,
    request: (merchant: MerchantClient) => Promise<answer>,
  ): Promise<answer | undefined> => {
    const merchant = createMerchantClient({ ...connection(), key: merchantKey })
    try {
      return await request(merchant)
    } catch (error) {
      purchase.problems.push(String(error))
      return undefined
    }
  }
  const pay = async (
    { nonces, id: orderId }: Purchase,
    wallet: Wallet,
    buyerToken: string,
  ) => {
    const buyer = createBuyerClient({ ...connection(), orderId, buyerToken })
    const state = await buyer.get().catch((error: unknown) => {
      if (Object(error).status === 404) return undefined
      throw error
    })
    if (!state) return 'forgotten'
    // An earlier try was taken, and its answer was lost.
    if (state.state !== 'drafted') return 'taken'
    const payment = await buyer.requestPayment({
      payer: wallet.account.address,
    })
    const { token } = chain
    const expect = { chainId: chain.chain.id, token, to: recipient }
    const signed = await signPayment(wallet, {
      payment: payment as Payment,
      expect: { ...expect, amount: price },
    })
    nonces.add(signed.message.nonce)
    await buyer.sendPayment(signed)
    return 'taken'
  }
  return {
    refusals: () => refused,
    buy: async (id) => {
      const purchase: Purchase = {
        id,
        nonces: new Set(),
        isAccepted: false,
        isRefunded: false,
        isForgotten: false,
        problems: [],
      }
      const wallet = wallets[Number(id.split('-')[1]) % numBuyers]
      for (let tries = 0; wallet && tries < 3; tries++) {
        const drafted = await ask(purchase, (merchant) =>
          merchant.draft({ amount: price, idempotencyKey: id }),
        )
        if (!drafted) return purchase
        const { buyerToken } = drafted
        const taken = await ask(purchase, () =>
          pay(purchase, wallet, buyerToken),
        )
        if (!taken) return purchase
        purchase.isAccepted = taken !== 'forgotten'
        if (purchase.isAccepted) return purchase
        purchase.isForgotten = true
      }
      return purchase
    },
    refund: async (purchase, isOver) => {
      const orderId = purchase.id
      for (;;) {
        const order = await ask(purchase, (merchant) =>
          merchant.get({ orderId }),
        )
        if (order?.state === 'captured') break
        if (!order || isOver()) return
        await pause(2_000)
      }
      const asked = await ask(purchase, (merchant) =>
        merchant.refund({ orderId, refundId: orderId, amount: part }),
      )
      purchase.isRefunded = asked !== undefined
    },
  }
}

const pause = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds))
