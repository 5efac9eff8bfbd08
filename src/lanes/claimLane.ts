import type { Address } from 'viem'
import type { OrdersContext, OrderWallet } from '../records/types.js'
import { getBlockHead } from '../rpc/requestNode.js'
import type { Lane, StoreReader } from '../store/types.js'
import type { LaneState } from './laneState.js'
import { laneKey, readerOf } from './laneState.js'

/**
 * Recipients for whom someone waits for a lane: a shop over the same store that
 * shares the account and is paid elsewhere. Who holds the lane does not send
 * their orders, and lets it go for them.
 */
const claimKey = (lane: Lane): string => `claim:${laneKey(lane)}`

type Values = Pick<StoreReader, 'getValue'>

async function readClaim(tables: Values, lane: Lane): Promise<string[]> {
  const { recipients } = Object(await tables.getValue(claimKey(lane)))
  return Array.isArray(recipients) ? recipients.map(String) : []
}

/** Whether someone waits for a lane who sends what we do not. */
export async function isClaimed(
  tables: Values,
  { recipients }: Pick<OrdersContext, 'recipients'>,
  lane: Lane,
): Promise<boolean> {
  const own: readonly string[] = recipients
  const claimed = await readClaim(tables, lane)
  return claimed.some((recipient) => !own.includes(recipient))
}

/** Takes the claims back: who holds the lane now lets it go, and all may try. */
export async function dropClaims(
  { store }: OrdersContext,
  { lease, wallet }: Pick<LaneState, 'lease' | 'wallet'>,
): Promise<void> {
  await store.write(
    (tables) => tables.setValue(claimKey(wallet.lane), { recipients: [] }),
    { lease },
  )
}

/**
 * Claims a lane that someone else works on, where orders of ours wait for it.
 * Whoever works on it and sends these orders too does not mind.
 */
export async function claimLane(
  context: OrdersContext,
  wallet: OrderWallet,
): Promise<void> {
  const { lane } = wallet
  const waiting = await findWaiting(context, wallet)
  if (waiting.length === 0) return
  const isMissing = (claimed: readonly string[]) =>
    waiting.some((recipient) => !claimed.includes(recipient))
  const { store } = context
  if (!isMissing(await store.read((tables) => readClaim(tables, lane)))) return
  await store.write(async (tables) => {
    const claimed = await readClaim(tables, lane)
    const recipients = [...new Set([...claimed, ...waiting])]
    await tables.setValue(claimKey(lane), { recipients })
  })
}

/** Most orders that are read to learn whose wait for a lane. */
const mostRead = 100

/** Recipients whose orders are due, or stuck in flight, while others have it. */
async function findWaiting(
  context: OrdersContext,
  { lane }: OrderWallet,
): Promise<Address[]> {
  const { store, recipients, policy } = context
  const find = (until: bigint) =>
    store.read(({ orders }) =>
      orders.find({ sendDue: lane, recipients, until, limit: mostRead }),
    )
  const before = context.now() - BigInt(policy.bumpAfter) * 1000n
  const stuck = await store.read(async ({ transactions, orders }) => {
    const open = await transactions.find({ openIn: lane })
    const old = open.filter(({ recordedAt }) => recordedAt < before)
    const ids = [...new Set(old.flatMap(({ orderId }) => orderId ?? []))]
    return ids.length > 0 ? orders.find({ ids }) : []
  })
  const later = await find(endOfTime)
  // What is due later is due by the chain's time, which takes a request.
  const isLater = later.some(({ sendDue = 0n }) => sendDue > 0n)
  const head = isLater
    ? await getBlockHead(readerOf(context, lane.chainId), 'latest')
    : undefined
  const due = head ? await find(head.timestamp) : isLater ? [] : later
  const own = [...due, ...stuck].map(({ recipient }) => recipient)
  return [...new Set(own)].filter((one) => recipients.includes(one))
}

const endOfTime = 2n ** 62n
