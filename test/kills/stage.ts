import {
  buildCancellation,
  capturePayment,
  encodePayment,
  type SignedCancellation,
  type SignedPayment,
  signCancellation,
  signPayment,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { DraftedOrder } from 'countersign/orders'
import { toHex } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { delegateByCode } from '../chain/support/delegateByCode.js'
import { putMulticall } from '../chain/support/multicall3.js'
import { cancelPageOf } from '../chain/support/settle.js'
import { openShop, type Shop } from './openShop.js'
import {
  type AccountKind,
  type Engine,
  type Flow,
  isBatch,
  type Plan,
} from './plan.js'

/** What a child process will find, and what it may leave behind. */
export type Stage = {
  chain: DevChain
  plan: Plan
  payer: PrivateKeyAccount
  recipient: PrivateKeyAccount
  payments: readonly SignedPayment[]
  /** So many of them, the first ones, were submitted by someone else. */
  foreign: number
}

/**
 * A merchant and a buyer nobody has seen before, with orders as far as they
 * are before the flow begins.
 */
export async function setStage(
  chain: DevChain,
  parameters: {
    engine: Engine
    account: AccountKind
    flow: Flow
    /** Milliseconds. */
    lease: number
    /** @default 4 for a batch, else 1 */
    orders?: number | undefined
    /** Of the payer, in token units. */
    balance?: bigint | undefined
  },
): Promise<Stage> {
  const { engine, account, flow, lease } = parameters
  const { balance = 1_000_000_000n } = parameters
  const orders = parameters.orders ?? (isBatch(flow) ? 4 : 1)
  const key = generatePrivateKey()
  const recipient = privateKeyToAccount(key)
  const payer = privateKeyToAccount(generatePrivateKey())
  const { test } = chain.clients
  const { address } = recipient
  await Promise.all([
    test.setBalance({ address, value: 10n ** 18n }),
    account === 'jsonRpc' && test.impersonateAccount({ address }),
    chain.mint({ to: payer.address, value: balance }),
    flow === 'batch' && putMulticall(chain),
    flow === 'batchDelegated' && delegateByCode(chain, address),
  ])
  const plan: Plan = {
    flow,
    engine,
    account,
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    policy: policyOf(flow, lease),
    orderIds: [],
    payments: [],
    cancellations: [],
  }
  const shop = openShop(plan)
  try {
    const drafts = await Promise.all(
      Array.from({ length: orders }, () => draftFor(shop, payer, flow)),
    )
    const payments = await Promise.all(
      drafts.map((drafted) => signDraft(payer, drafted)),
    )
    const orderIds = drafts.map(({ order }) => order.id)
    if (flow !== 'accept')
      for (const [index, payment] of payments.entries())
        await acceptPayment(shop, orderIds[index] ?? '', payment)
    const foreign = payments.slice(0, foreignCount(flow, orders))
    for (const payment of foreign)
      await capturePayment(chain.clients.relayer, { payment })
    return {
      chain,
      payer,
      recipient,
      payments,
      foreign: foreign.length,
      plan: {
        ...plan,
        orderIds,
        payments: payments.map(encodePayment),
        cancellations:
          flow === 'cancel' ? await cancelAll(payer, payments) : [],
      },
    }
  } finally {
    await shop.orders.close()
  }
}

function policyOf(flow: Flow, lease: number): Plan['policy'] {
  if (flow === 'watch') return { lease, capture: 'onAccept' }
  // Few at once, so that there is something left to take over.
  if (flow === 'work') return { lease, capture: 'onAccept', maxInFlight: 2 }
  return { lease }
}

/** How many payments someone else submits, behind the merchant's back. */
function foreignCount(flow: Flow, orders: number): number {
  if (flow === 'reconcile') return orders
  return flow === 'watch' && orders > 1 ? 1 : 0
}

export async function draftFor(
  { orders }: Shop,
  payer: PrivateKeyAccount,
  flow: Flow,
): Promise<DraftedOrder> {
  return orders.draft({
    amount: '1.25',
    payer: payer.address,
    // Only Transfer payments can be submitted by others, and through a contract.
    ...(flow === 'batch' || flow === 'reconcile' || flow === 'watch'
      ? { primaryType: 'TransferWithAuthorization' }
      : {}),
  })
}

/** Signs as the buyer's page does. */
export function signDraft(
  payer: PrivateKeyAccount,
  { order, payment }: DraftedOrder,
): Promise<SignedPayment> {
  const message = { ...payment.message, from: payer.address }
  return signPayment(walletOf(payer), {
    payment: { ...payment, message },
    expect: {
      chainId: order.chainId,
      token: order.token,
      to: order.recipient,
      amount: order.amount,
      primaryType: payment.primaryType,
    },
  })
}

function cancelAll(
  payer: PrivateKeyAccount,
  payments: readonly SignedPayment[],
): Promise<SignedCancellation[]> {
  return Promise.all(
    payments.map((payment) => {
      const cancellation = buildCancellation({ payment })
      return signCancellation(walletOf(payer), {
        cancellation,
        expect: cancelPageOf(cancellation),
      })
    }),
  )
}

const walletOf = (account: PrivateKeyAccount) => ({
  account,
  request: async () => toHex(31337),
})

/** Accepts at once, also where a process died while it accepted. */
export async function acceptPayment(
  { orders }: Shop,
  orderId: string,
  payment: SignedPayment,
): Promise<void> {
  const verdict = await orders.accept({ orderId, payment })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
}
