import type { DevChain } from 'countersign/devchain'
import {
  createOrders,
  type DraftOrderParameters,
  type LedgerRow,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore, type PaymentStore } from 'countersign/store'
import { type Address, erc20Abi, type Hash } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { readContract, writeContract } from 'viem/actions'
import { fakeNode, fundedAccount, mined } from './desk.js'
import { pay } from './shop.js'

/** A shop whose books are read. */
export type LedgerShop = {
  chain: DevChain
  orders: Orders
  store: PaymentStore
  account: PrivateKeyAccount
  recipient: Address
  /** While true, the token is paused when a transaction is mined. */
  spoil: (isOn: boolean) => void
}

export async function openLedgerShop(
  chain: DevChain,
  {
    policy,
    store = memoryStore(),
    account: given,
  }: {
    policy?: OrdersPolicy | undefined
    store?: PaymentStore | undefined
    account?: PrivateKeyAccount | undefined
  } = {},
): Promise<LedgerShop> {
  const account = given ?? (await fundedAccount(chain))
  let isSpoiled = false
  const wallet = fakeNode(
    chain,
    async ({ method }, forward) => {
      if (method !== 'eth_sendRawTransaction' || !isSpoiled) return forward()
      await chain.pause(true)
      const sent = await forward()
      await chain.pause(false)
      return sent
    },
    account,
  )
  const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
  const orders = createOrders({
    store,
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [wallet.client],
    policy: { relayCancellations: 'always', ...policy },
  })
  const recipient = account.address.toLowerCase() as Address
  const spoil = (isOn: boolean) => {
    isSpoiled = isOn
  }
  return { chain, orders, store, account, recipient, spoil }
}

/** An order that a new buyer paid. */
export async function sell(
  { chain, orders }: LedgerShop,
  orderId: string,
  amount = '12.50',
  draft: Omit<DraftOrderParameters, 'amount'> = {},
): Promise<{ orderId: string; buyer: PrivateKeyAccount }> {
  const buyer = await fundedAccount(chain, 1_000_000_000n)
  const { payment } = await orders.draft({
    orderId,
    amount,
    ...draft,
  })
  const signed = await pay(buyer, payment)
  const verdict = await orders.accept({ orderId, payment: signed })
  if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
  return { orderId, buyer }
}

/** Moves tokens as anyone can. */
export function move(
  chain: DevChain,
  from: PrivateKeyAccount,
  to: Address,
  value: bigint,
): Promise<Hash> {
  return mined(
    chain,
    writeContract(chain.clients.payer, {
      account: from,
      address: chain.token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [to, value],
    }),
  )
}

export function balanceOf(
  { chain, recipient }: LedgerShop,
  blockNumber?: bigint | undefined,
): Promise<bigint> {
  return readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [recipient],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  })
}

export async function rowsOf(
  { orders }: { orders: Pick<Orders, 'ledger'> },
  parameters?: Parameters<Orders['ledger']>[0],
): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = []
  for await (const row of orders.ledger(parameters)) rows.push(row)
  return rows
}

export const sum = (values: readonly bigint[]): bigint =>
  values.reduce((all, one) => all + one, 0n)
