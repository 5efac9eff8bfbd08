import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  Keccak256,
  Payment,
  PrimaryType,
  SignedPayment,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  createOrders,
  type Orders,
  type OrdersPolicy,
} from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { type PaymentStore, sealer } from 'countersign/store'
import {
  type Address,
  createClient,
  custom,
  type PrivateKeyAccount,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

export type ShopPlace = {
  url: string
  store: PaymentStore
  /** Seals what is kept, 32 bytes; without it nothing is sealed. */
  key: Uint8Array | undefined
  accounts: readonly PrivateKeyAccount[]
  policy?: OrdersPolicy | undefined
  keccak256?: Keccak256 | undefined
}

/** A shop as a backend has it, its requests in batches. */
export function openShop(
  { chain, token }: Pick<DevChain, 'chain' | 'token'>,
  { url, store, key, accounts, policy, keccak256 }: ShopPlace,
): Orders {
  const client = createReadClient({ url, chain })
  const transport = custom(client)
  return createOrders({
    store,
    seal: key ? sealer({ keys: { bench: key }, current: 'bench' }) : 'none',
    tokens: [{ client, token }],
    wallets: accounts.map((account) =>
      createClient({ account, chain, transport }),
    ),
    policy: { maxInFlight: 500, ...policy },
    keccak256,
  })
}

/** Where a database can lie, until the folder is removed. */
export function makeFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'countersign-bench-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** Accounts with more tokens than they will be asked for. */
export async function makePayers(
  chain: DevChain,
  count: number,
): Promise<PrivateKeyAccount[]> {
  const payers: PrivateKeyAccount[] = []
  for (let made = 0; made < count; made++) {
    const payer = privateKeyToAccount(generatePrivateKey())
    await chain.mint({ to: payer.address, value: 1_000_000n * 10n ** 6n })
    payers.push(payer)
  }
  return payers
}

export type SignedOrder = { orderId: string; payment: SignedPayment }

/** Orders with what their buyers signed, which nobody has accepted. */
export function signOrders(
  orders: Orders,
  payers: readonly PrivateKeyAccount[],
  count: number,
  fields?: { recipient: Address; primaryType?: PrimaryType },
): Promise<SignedOrder[]> {
  return inTurns(count, async (at) => {
    const payer = payers[at % payers.length]
    if (!payer) throw new Error('There are no payers.')
    const { order, payment } = await orders.draft({ amount: '1', ...fields })
    const { domain, primaryType, message } = payment
    const from = payer.address.toLowerCase() as typeof payer.address
    const complete = { domain, primaryType, message: { ...message, from } }
    return { orderId: order.id, payment: await signWith(payer, complete) }
  })
}

/** Accepts orders, a few at a time. */
export async function acceptOrders(
  orders: Orders,
  signed: readonly SignedOrder[],
): Promise<void> {
  await inTurns(signed.length, async (at) => {
    const one = signed[at]
    const verdict = one && (await orders.accept(one))
    if (!verdict?.ok) throw new Error(`Refused: ${verdict?.reason}.`)
  })
}

/** Does something so many times, twenty at a time. */
async function inTurns<result>(
  count: number,
  work: (at: number) => Promise<result>,
): Promise<result[]> {
  const results: result[] = []
  let next = 0
  const workOn = async (): Promise<void> => {
    while (next < count) {
      const at = next++
      results[at] = await work(at)
    }
  }
  await Promise.all(Array.from({ length: 20 }, workOn))
  return results
}

/** What a buyer's wallet makes of a payment. */
export async function signWith(
  payer: PrivateKeyAccount,
  payment: Payment,
): Promise<SignedPayment> {
  return {
    ...payment,
    signature: await payer.signTypedData({ types: messageTypes, ...payment }),
  }
}

const message = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

export const messageTypes = {
  ReceiveWithAuthorization: message,
  TransferWithAuthorization: message,
} as const
