import {
  type CreateOrdersParameters,
  createOrders,
  type Orders,
} from 'countersign/orders'
import { memoryStore, type PaymentStore } from 'countersign/store'
import {
  buildSpendPermission,
  createSubscriptions,
  type Subscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import { type Address, createClient, custom, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { usedTopic } from '../../../src/subscriptions/charges/findUses.js'
import { encodePermission } from '../../../src/subscriptions/permission/permissionJson.js'
import {
  drawAddress,
  drawId,
  sampleAttempt,
  sampleOrder,
} from '../../storeCases/samples.js'

const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** Seconds between two blocks of the fake node. */
const blockTime = 2

/** Block of the fake node at the Unix time 0 of its counting. */
const firstTime = 1_700_000_000

/** The charges that a request asks for: recipients and blocks. */
type AskedCharges = {
  manager: Address
  recipients: readonly Address[]
  fromBlock: bigint
}

/** A shop on Base that has nothing but subscriptions, and a fake node. */
export type ScheduleShop = {
  orders: Orders
  subscriptions: Subscriptions
  store: PaymentStore
  recipients: readonly Address[]
  /** Methods of all requests. */
  asked: string[]
  /** Requests for charges. */
  charges: AskedCharges[]
  /** Units of work of the database, so far. */
  units(): number
  /** From now on the node refuses requests for such charges. */
  refuse(isRefused: (asked: AskedCharges) => boolean): void
  /** From now on the node does not answer requests for such charges. */
  hang(isHung: (asked: AskedCharges) => boolean): void
  /** Puts a subscription of a recipient on record, in Unix seconds. */
  insert(
    recipient: Address,
    facts?: { due?: bigint; createdAt?: bigint; manager?: Address },
  ): Promise<string>
}

export const nowSeconds = (): bigint => BigInt(Math.floor(Date.now() / 1000))

/** Number of the block that is the newest at a time. */
export const blockAt = (time: bigint): bigint =>
  (time - BigInt(firstTime)) / BigInt(blockTime)

export function openScheduleShop(
  count: number,
  changes: Partial<CreateOrdersParameters> = {},
): ScheduleShop {
  const asked: string[] = []
  const charges: AskedCharges[] = []
  let isRefused = (_: AskedCharges) => false
  let isHung = (_: AskedCharges) => false
  let units = 0
  const blockOf = (number: bigint) => ({
    number: numberToHex(number),
    hash: numberToHex(number, { size: 32 }),
    timestamp: numberToHex(BigInt(firstTime) + number * BigInt(blockTime)),
    baseFeePerGas: '0x1',
  })
  const request = async ({
    method,
    params,
  }: {
    method: string
    params?: unknown
  }) => {
    asked.push(method)
    const [first] = Object(params)
    if (method === 'eth_chainId') return numberToHex(base.id)
    if (method === 'eth_getBlockByNumber') {
      const number = String(first).startsWith('0x') ? BigInt(first) : undefined
      return blockOf(number ?? blockAt(nowSeconds()))
    }
    if (method !== 'eth_getLogs') throw new Error(`not asked: ${method}`)
    const [topic, , , words] = Object(first).topics
    if (topic !== usedTopic) throw new Error('not asked for charges')
    const of: AskedCharges = {
      manager: Object(first).address,
      recipients: [words].flat().map((one): Address => `0x${one.slice(26)}`),
      fromBlock: BigInt(Object(first).fromBlock),
    }
    charges.push(of)
    if (isHung(of)) return new Promise(() => undefined)
    if (isRefused(of))
      throw Object.assign(new Error('exceed max topics'), { code: -32_602 })
    return []
  }
  const transport = custom({ request }, { retryCount: 0 })
  const account = privateKeyToAccount(generatePrivateKey())
  const recipients = Array.from({ length: count }, drawAddress)
  const inner = memoryStore()
  const store: PaymentStore = {
    ...inner,
    read: (work) => {
      units++
      return inner.read(work)
    },
    write: (work, options) => {
      units++
      return inner.write(work, options)
    },
  }
  const orders = createOrders({
    store,
    seal: 'none',
    tokens: [{ client: createClient({ chain: base, transport }), token }],
    wallets: [createClient({ account, chain: base, transport })],
    recipients,
    kinds: [spendPermissions()],
    ...changes,
  })
  const insert: ScheduleShop['insert'] = async (
    recipient,
    { due, createdAt = nowSeconds() - 1000n, manager } = {},
  ) => {
    const id = drawId()
    const destination = { chainId: base.id, token, recipient } as const
    const payer = drawAddress()
    const permission = buildSpendPermission({
      chainId: base.id,
      account: payer,
      spender: recipient,
      token,
      allowance: '10',
      period: 1000n,
      start: createdAt,
      manager,
    })
    await store.write(async (tables) => {
      const facts = { id, createdAt, subscriptionId: id }
      await tables.orders.insert([sampleOrder(destination, facts)])
      await tables.attempts.insert([sampleAttempt({ ...destination, id })])
      await tables.subscriptions.insert([
        {
          ...destination,
          id,
          state: 'active',
          payer,
          permission: encodePermission(permission),
          price: undefined,
          period: 0n,
          chargeId: undefined,
          tries: 0,
          due,
        },
      ])
    })
    return id
  }
  return {
    orders,
    subscriptions: createSubscriptions({ orders }),
    store,
    recipients,
    asked,
    charges,
    units: () => units,
    refuse: (next) => {
      isRefused = next
    },
    hang: (next) => {
      isHung = next
    },
    insert,
  }
}
