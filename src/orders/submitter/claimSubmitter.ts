import type { Address } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { endOfTime } from '../../store/endOfTime.js'
import type { StoreReader, Submitter } from '../../store/types.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import type { SubmitterState } from './submitterState.js'
import { readerOf, submitterKey } from './submitterState.js'

/**
 * The key of a submitter's claims: recipients of another shop that shares the store
 * and the account, and that waits for the submitter. The holder does not send orders
 * of these recipients, so it gives the submitter up for them.
 */
const claimKey = (submitter: Submitter): string =>
  `claim:${submitterKey(submitter)}`

type Values = Pick<StoreReader, 'getValue'>

async function readClaim(
  tables: Values,
  submitter: Submitter,
): Promise<string[]> {
  const { recipients } = Object(await tables.getValue(claimKey(submitter)))
  return Array.isArray(recipients) ? recipients.map(String) : []
}

/** True when someone who sends for other recipients waits for the submitter. */
export async function isClaimed(
  tables: Values,
  { recipients }: Pick<OrdersContext, 'recipients'>,
  submitter: Submitter,
): Promise<boolean> {
  const own: readonly string[] = recipients
  const claimed = await readClaim(tables, submitter)
  return claimed.some((recipient) => !own.includes(recipient))
}

/** Clears the claims, because the holder is about to release the submitter. */
export async function dropClaims(
  { store }: OrdersContext,
  { lease, wallet }: Pick<SubmitterState, 'lease' | 'wallet'>,
): Promise<void> {
  await store.write(
    (tables) => tables.setValue(claimKey(wallet.submitter), { recipients: [] }),
    { lease },
  )
}

/**
 * Claims a submitter that someone else holds if orders of ours wait for it. A holder
 * that sends for the same recipients ignores the claim.
 */
export async function claimSubmitter(
  context: OrdersContext,
  wallet: OrderWallet,
): Promise<void> {
  const { submitter } = wallet
  const waiting = await findWaiting(context, wallet)
  if (waiting.length === 0) return
  const isMissing = (claimed: readonly string[]) =>
    waiting.some((recipient) => !claimed.includes(recipient))
  const { store } = context
  if (!isMissing(await store.read((tables) => readClaim(tables, submitter))))
    return
  await store.write(async (tables) => {
    const claimed = await readClaim(tables, submitter)
    const recipients = [...new Set([...claimed, ...waiting])]
    await tables.setValue(claimKey(submitter), { recipients })
  })
}

/** Most orders to read when looking for recipients that wait for a submitter. */
const mostRead = 100

/** Our recipients whose orders on the submitter are due or stuck in flight. */
async function findWaiting(
  context: OrdersContext,
  { submitter }: OrderWallet,
): Promise<Address[]> {
  const { store, recipients, policy } = context
  const find = (until: bigint) =>
    store.read(({ orders }) =>
      orders.find({ sendDue: submitter, recipients, until, limit: mostRead }),
    )
  const before = context.now() - BigInt(policy.bumpAfter) * 1000n
  const stuck = await store.read(async ({ transactions, orders }) => {
    const open = await transactions.find({ inFlight: submitter })
    const old = open.filter(({ recordedAt }) => recordedAt < before)
    const ids = [...new Set(old.flatMap(({ orderId }) => orderId ?? []))]
    return ids.length > 0 ? orders.find({ ids }) : []
  })
  const later = await find(endOfTime)
  // Other orders are due by the chain's time, which costs a request.
  const isLater = later.some(({ sendDue = 0n }) => sendDue > 0n)
  const head = isLater
    ? await getBlockHead(readerOf(context, submitter.chainId), 'latest')
    : undefined
  const due = head ? await find(head.timestamp) : isLater ? [] : later
  const own = [...due, ...stuck].map(({ recipient }) => recipient)
  return [...new Set(own)].filter((one) => recipients.includes(one))
}
