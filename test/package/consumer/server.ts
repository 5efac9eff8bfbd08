// What a merchant's backend takes, compiled strictly.
import { type Accelerator, loadAccelerator } from 'countersign/accelerate'
import {
  type BuyerOrder,
  createPaymentHandler,
  type PaymentHandler,
  type ProblemReason,
} from 'countersign/http'
import {
  type CaptureResult,
  createOrders,
  type Observation,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { type PostgresPool, postgresStore, sqliteStore } from 'countersign/sql'
import { type PaymentStore, sealer } from 'countersign/store'
import { faultTransport, storeCases } from 'countersign/testing'
import { runWebhooks, WebhookTargetError } from 'countersign/webhooks'
import {
  type Account,
  type Address,
  createWalletClient,
  type Hex,
  http,
} from 'viem'
import { base } from 'viem/chains'

const token: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

export const openStore = (pool?: PostgresPool): PaymentStore =>
  pool ? postgresStore({ pool }) : sqliteStore({ file: 'orders.db' })

export async function openAccount(privateKey: Hex): Promise<Account> {
  const { fastAccount }: Accelerator = await loadAccelerator()
  return fastAccount(privateKey)
}

export function openOrders(store: PaymentStore, account: Account): Orders {
  const client = createReadClient({ url: 'https://rpc.example', chain: base })
  const wallet = createWalletClient({ account, chain: base, transport: http() })
  return createOrders({
    store,
    seal: sealer({ keys: { 'key-1': new Uint8Array(32) }, current: 'key-1' }),
    tokens: [{ client, token }],
    wallets: [wallet],
    policy: { capture: 'onAccept', window: 900n },
    observe: ({ name, duration }: Observation) => [name, duration],
  })
}

export const serve = (orders: Orders, recipient: Address): PaymentHandler =>
  createPaymentHandler(orders, {
    basePath: '/payments',
    authorize: ({ headers }) =>
      headers.has('authorization') ? { recipients: [recipient] } : undefined,
    cors: { origins: ['https://shop.example'] },
  })

/** Compiles only if the compiler knows every result there is. */
export function tell(result: CaptureResult): bigint | string {
  switch (result.status) {
    case 'captured':
      return result.proof.blockNumber
    case 'preconfirmed':
      return result.transactionHash
    case 'rejected':
      return result.reason
    case 'unknown':
      return result.until
  }
}

export const paidBy = ({ transaction }: BuyerOrder): string | undefined =>
  transaction?.hash

export const isGone = (reason: ProblemReason): boolean =>
  reason === 'orderNotFound'

export async function deliver(
  orders: Orders,
  store: PaymentStore,
  signal: AbortSignal,
): Promise<boolean> {
  const target = { name: 'shop', url: 'https://shop.example/', secrets: [] }
  try {
    await runWebhooks(orders, { store, targets: [target], signal })
    return true
  } catch (error) {
    if (error instanceof WebhookTargetError) return false
    throw error
  }
}

export const shaky = faultTransport(http(), { seed: 1, rates: { drop: 0.1 } })
export const rules: readonly string[] = storeCases.map(({ name }) => name)

// @ts-expect-error a window is a bigint of seconds, never a number
export const policy: OrdersPolicy = { window: 900 }
