import type { Address } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { endOfTime } from '../../core/clock.js'
import { LeaseLostError } from '../../store/errors.js'
import { keepLease } from '../../store/keepLease.js'
import { ordersOf } from '../../store/movements.js'
import type { StoreReader, Submitter } from '../../store/types.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { readerOf } from '../evidence/clientOf.js'
import type { Aside } from '../loop/putAside.js'
import type { Joins } from './joins.js'
import {
  createSubmitter,
  type SubmitterState,
  submitterKey,
} from './submitterState.js'
import type { WalletAsk } from './walletAsk.js'

/**
 * Takes or renews the lease of the submitter. If the lease was lost meanwhile,
 * returns an empty state, which `findWork` fills from the store.
 * @returns `undefined` while another process holds the lease.
 */
export async function openSubmitter(
  context: OrdersContext,
  {
    wallet,
    submitter,
    aside,
    joins,
    walletAsk,
  }: {
    wallet: OrderWallet
    submitter: SubmitterState | undefined
    aside: Aside
    joins?: Joins | undefined
    walletAsk?: WalletAsk | undefined
  },
): Promise<SubmitterState | undefined> {
  const { store, policy, owner } = context
  const kept =
    submitter?.kept ??
    keepLease(store, {
      key: submitterKey(wallet.submitter),
      owner,
      milliseconds: policy.lease,
    })
  const lease = await kept.take()
  if (!lease) return undefined
  if (submitter?.lease.fence === lease.fence) return submitter
  return createSubmitter(context, wallet, {
    kept,
    lease,
    aside,
    joins,
    walletAsk,
  })
}

/**
 * Renews the lease of a submitter once a third of it has passed. Call it before
 * each step of long work.
 * @throws {@link LeaseLostError} when the lease was lost.
 */
export async function keepSubmitter({
  kept,
  lease,
}: SubmitterState): Promise<void> {
  const taken = await kept.take()
  if (taken?.fence !== lease.fence) throw new LeaseLostError(lease)
}

/**
 * Longest work under one lease, as a multiple of the lease's length. Work that
 * takes longer no longer renews the lease, so that another process can take
 * over.
 */
const mostLeases = 3

/**
 * Milliseconds of the longest work under one lease; longer if a person may have
 * to confirm in a wallet.
 */
export function longestTurn(
  { policy: { lease, walletTimeout } }: Pick<OrdersContext, 'policy'>,
  { wallet }: Pick<SubmitterState, 'wallet'>,
): number {
  const isLocal = wallet.account.type === 'local'
  return isLocal ? mostLeases * lease : mostLeases * lease + walletTimeout
}

/**
 * Key of the stored request to release a submitter's lease. Two shops can share
 * a store and an account. The shop that waits stores its recipients under this
 * key. If the holder of the lease does not send for these recipients, it
 * releases the lease.
 */
const claimKey = (submitter: Submitter): string =>
  `claim:${submitterKey(submitter)}`

type Values = Pick<StoreReader, 'getValue'>

async function loadClaim(
  tables: Values,
  submitter: Submitter,
): Promise<string[]> {
  const { recipients } = Object(await tables.getValue(claimKey(submitter)))
  return Array.isArray(recipients) ? recipients.map(String) : []
}

/**
 * True when a process that sends for other recipients waits for the submitter.
 */
export async function isClaimed(
  tables: Values,
  { recipients }: Pick<OrdersContext, 'recipients'>,
  submitter: Submitter,
): Promise<boolean> {
  const own: readonly string[] = recipients
  const claimed = await loadClaim(tables, submitter)
  return claimed.some((recipient) => !own.includes(recipient))
}

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
 * Asks the holder of a submitter's lease to release it, if orders of ours wait.
 * A holder that sends for the same recipients ignores this.
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
  if (!isMissing(await store.read((tables) => loadClaim(tables, submitter))))
    return
  await store.write(async (tables) => {
    const claimed = await loadClaim(tables, submitter)
    const recipients = [...new Set([...claimed, ...waiting])]
    await tables.setValue(claimKey(submitter), { recipients })
  })
}

/**
 * Most orders to read in the search for recipients that wait for a submitter.
 */
const mostRead = 100

/**
 * Finds our recipients with orders on the submitter that are due, or stuck in
 * flight.
 */
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
    const ids = ordersOf(old)
    return ids.length > 0 ? orders.find({ ids }) : []
  })
  const later = await find(endOfTime)
  // To find orders that become due later, we need the chain's time, which costs
  // a request.
  const isLater = later.some(({ sendDue = 0n }) => sendDue > 0n)
  const head = isLater
    ? await getBlockHead(readerOf(context, submitter.chainId), 'latest')
    : undefined
  const due = head ? await find(head.timestamp) : isLater ? [] : later
  const own = [...due, ...stuck].map(({ recipient }) => recipient)
  return [...new Set(own)].filter((one) => recipients.includes(one))
}
