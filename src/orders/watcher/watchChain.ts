import type { Address } from 'viem'
import { checkChain } from '../../chain/state/checkChain.js'
import { type ChainHeads, getHeads } from '../../chain/state/getHeads.js'
import { LeaseLostError } from '../../store/errors.js'
import { type KeptLease, keepLease } from '../../store/keepLease.js'
import type { Destination, Lease } from '../../store/types.js'
import type { OrdersContext, RefundSigner } from '../context/types.js'
import { clientOf, readerOf } from '../evidence/clientOf.js'
import type { SeenBlock } from '../evidence/findCanonical.js'
import {
  believeFinality,
  findFinalityFault,
  findUnconfirmed,
} from './believeFinality.js'
import { carryRefunds, refundsStep } from './carryRefunds.js'
import { behindError, checkReorg } from './checkReorg.js'
import { expireDue, expiryStep } from './expireDue.js'
import { findNextLook, type LastLook, type NextLook } from './findNextLook.js'
import { fulfilIncluded } from './fulfilIncluded.js'
import { paceOf, type WatchPace } from './paceOf.js'
import { finalityStep, raiseSettled } from './raiseSettled.js'
import { reconcileToken, reconciliationStep } from './reconcileToken.js'
import { reportFault, tryStep } from './tryStep.js'
import { openWatchAsides, type WatchAsides } from './watchAside.js'
import { watchKey } from './watchKeys.js'
import {
  newMemory,
  newTokenMemory,
  type TokenWatch,
  unknownDue,
  type Watch,
  type WatchMemory,
} from './watchState.js'

/**
 * Milliseconds between two reconciliations that start at the last final block.
 */
const deepEvery = 600_000

/** Watches the orders of one chain. Each call of `look` is one poll. */
export type ChainWatcher = {
  /**
   * Compares the stored orders with the chain once, and writes the differences:
   * payments that a reorganization removed, expired orders, payments that
   * others submitted, and finality. Does nothing while another process watches
   * the chain. If a step fails, that step is tried again later and the other
   * steps continue.
   *
   * @returns `nextLook`, milliseconds until the next poll. While `isQuiet`, a
   * change in the store may start the next poll earlier: see `findNextLook`.
   * `isIdle`: no order waits for the chain, or another process watches it.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * return its newest block, or is on another chain. The next poll then starts
   * from the beginning.
   */
  look(): Promise<{ nextLook: number; isQuiet: boolean; isIdle: boolean }>
  /**
   * Decides again when to poll next, because orders in the store may have
   * changed.
   * @returns milliseconds from now.
   */
  findNextLook(): Promise<number>
  /** Steps and orders that failed, and when each is tried again. */
  asides: WatchAsides
  /**
   * Renews or releases the lease under which this process watches the chain.
   */
  kept: Pick<KeptLease, 'prolong' | 'release'>
  /** The lease for watching the chain, while this process holds it. */
  lease(): Lease | undefined
}

/**
 * Creates the watcher of a chain. One poll covers all recipients in all tokens
 * of the chain. Forgets what earlier polls found whenever the lease is a new
 * one, because another process may have written meanwhile.
 */
export function watchChain(
  context: OrdersContext,
  chainId: number,
  {
    signer,
    asides = openWatchAsides(context, chainId),
    reconcileEvery,
    mostOpen,
  }: {
    signer: RefundSigner
    asides?: WatchAsides | undefined
    /**
     * Milliseconds between two periodic reconciliations.
     * @default 10 seconds; while nothing waits for the chain, four quiet
     * intervals if that is longer
     */
    reconcileEvery?: number | undefined
    /** Most open orders that one reconciliation asks about. */
    mostOpen?: number | undefined
  },
): ChainWatcher {
  const { store, policy, owner } = context
  const client = readerOf(context, chainId)
  const pace = paceOf(policy, client, chainId)
  const kept = keepLease(store, {
    key: watchKey(context, { chainId }),
    owner,
    milliseconds: policy.lease,
  })
  let lease: Lease | undefined
  let memory = newMemory()
  let last: LastLook | undefined
  let destinations: ChainDestinations | undefined
  /** Read the shop first, because its recipients may have changed. */
  const findDestinations = async (): Promise<ChainDestinations> => {
    await context.shop.refresh()
    if (destinations?.from !== context.destinations) {
      destinations = groupByToken(context, chainId)
      for (const tokenMemory of memory.tokens.values())
        tokenMemory.places = undefined
    }
    memory.changes = destinations.changes
    return destinations
  }
  // After a failed poll, or without the lease, a change in the store does not
  // start the next poll earlier.
  const findNext = async (): Promise<NextLook | undefined> => {
    if (!last || !lease || !kept.holds(lease)) return undefined
    const found = await findNextLook(context, {
      destinations: (await findDestinations()).all,
      memory,
      last,
      pace,
    })
    last = { ...last, calledBy: found.calledBy }
    return found
  }
  const renew = (next: Lease | undefined): void => {
    if (next?.fence !== lease?.fence) {
      memory = newMemory()
      asides.clearAll()
    }
    lease = next
  }
  const look: ChainWatcher['look'] = async () => {
    last = undefined
    renew(await kept.take())
    const denied = {
      nextLook: policy.lease / 2,
      isQuiet: false,
      isIdle: true,
    }
    if (!lease) return denied
    try {
      await kept.during(async () => {
        const { all, tokens } = await findDestinations()
        const heads = await getHeads(client, policy, numbersToAsk(memory))
        // If the node were on another chain, its blocks would make our orders
        // expire and undo our payments.
        if (!isHeadKnown(memory, heads)) await checkChain(client, chainId)
        const { apart } = memory
        const aside = asides.chain
        const seen = { client, chainId, heads, memory, lease }
        const watch = { ...seen, destinations: all, aside, apart }
        const every = reconcileEvery ?? reconcileEveryOf(pace, memory)
        const reading = { reconcileEvery: every, mostOpen }
        await lookOnce(context, {
          ...watch,
          tokens,
          asides,
          signer,
          ...reading,
        })
        const { timestamp: time } = heads.latest
        last = { time, at: performance.now(), calledBy: memory.freshTo ?? 0n }
      })
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error
      kept.forget()
      renew(undefined)
    }
    const next = await findNext()
    if (!next) return denied
    const { isQuiet, isIdle, milliseconds } = next
    memory.isQuiet = isQuiet
    return { nextLook: Math.max(milliseconds, pace.interval), isQuiet, isIdle }
  }
  return {
    look,
    findNextLook: async () =>
      (await findNext())?.milliseconds ?? Number.POSITIVE_INFINITY,
    asides,
    kept,
    lease: () => kept.held,
  }
}

/**
 * Runs the steps of one poll. Each runs even if another one failed:
 * 1. `believeFinality` confirms the safe and final blocks by a second poll.
 * 2. `checkReorg` finds replaced blocks and undoes what their transactions
 *    settled, also in blocks that no poll has seen.
 * 3. `expireDue` ends orders whose window has ended and whose nonce is unused.
 * 4. `reconcileToken` finds payments that the store lacks, every 10 seconds.
 * 5. `fulfilIncluded` fulfils orders at `included`, if the policy says so.
 * 6. `raiseSettled` updates finality, and fulfils at `safe` and `finalized`.
 * 7. `carryRefunds` has requested refunds signed by `signRefunds`.
 * Steps 3 and 4 run for all tokens at the same time.
 *
 * If a reorganization moves an order back to `capturing`, its transactions are
 * in flight again: the next poll of the submitter sends the same bytes.
 */
async function lookOnce(
  context: OrdersContext,
  watch: Watch & Looking,
): Promise<void> {
  const { memory, heads, aside } = watch
  const sureWatch = { ...watch, sure: believeFinality(memory, heads) }
  reportFault(aside, 'finality', findFinalityFault(context.policy, heads))
  memory.due = unknownDue
  const verdict = await tryStep(watch, 'reorganizations', () =>
    checkReorg(context, watch),
  )
  const isBehind = verdict === 'behind'
  reportFault(aside, 'head', isBehind ? behindError(watch) : undefined)
  if (isBehind) return
  await Promise.all(
    tokensOf(context, watch).map(async (one) => {
      const { sure } = sureWatch
      await tryStep(one, expiryStep, () => expireDue(context, { ...one, sure }))
      await tryStep(one, reconciliationStep, () =>
        reconcileWhenDue(context, one, verdict === 'reorged'),
      )
    }),
  )
  // If `checkReorg` failed, a new payment may be in a replaced block: do not
  // fulfil its order.
  if (context.policy.fulfilAt === 'included' && verdict !== undefined)
    await tryStep(watch, 'fulfilment', () => fulfilIncluded(context, watch))
  await tryStep(watch, finalityStep, () => raiseSettled(context, sureWatch))
  await tryStep(watch, refundsStep, () =>
    carryRefunds(context, sureWatch, watch.signer),
  )
}

/** Milliseconds between two reconciliations, unless the chain is quiet. */
const usuallyEvery = 10_000

function reconcileEveryOf(
  { quiet }: WatchPace,
  { isQuiet = false }: WatchMemory,
): number {
  return isQuiet ? Math.max(usuallyEvery, 4 * quiet) : usuallyEvery
}

type Reconciling = { reconcileEvery: number; mostOpen: number | undefined }

/**
 * The destinations of a chain, loaded again when the recipients of the shop
 * change.
 */
type ChainDestinations = {
  /**
   * The shop's list that these were taken from. If the shop has another list,
   * these are outdated.
   */
  from: readonly Destination[]
  /** Number of changes of the shop's recipients when this list was made. */
  changes: number
  all: readonly Destination[]
  tokens: ReadonlyMap<Address, readonly Destination[]>
}

function groupByToken(
  {
    destinations: from,
    shop: { changes },
  }: Pick<OrdersContext, 'destinations' | 'shop'>,
  chainId: number,
): ChainDestinations {
  const all = Object.freeze(from.filter((one) => one.chainId === chainId))
  const names = [...new Set(all.map(({ token }) => token))]
  const tokens = new Map(
    names.map((name) => [
      name,
      Object.freeze(all.filter(({ token }) => token === name)),
    ]),
  )
  return { from, changes, all, tokens }
}

type Looking = Reconciling &
  Pick<ChainDestinations, 'tokens'> & {
    asides: WatchAsides
    signer: RefundSigner
  }

/**
 * Builds, for each token of the chain, the input of this poll: its
 * destinations, its client and what earlier polls found.
 */
function tokensOf(
  context: OrdersContext,
  watch: Watch & Looking,
): (TokenWatch & Reconciling)[] {
  const { chainId, memory, asides } = watch
  return [...watch.tokens].map(([token, all]) => {
    const tokenMemory = memory.tokens.get(token) ?? newTokenMemory()
    memory.tokens.set(token, tokenMemory)
    return {
      ...watch,
      client: clientOf(context, { chainId, token }),
      token,
      tokenMemory,
      all,
      destinations: all,
      aside: asides.ofToken(token),
      apart: tokenMemory.apart,
    }
  })
}

async function reconcileWhenDue(
  context: OrdersContext,
  watch: TokenWatch & Reconciling,
  isReorged: boolean,
): Promise<void> {
  const { tokenMemory, reconcileEvery } = watch
  const now = performance.now()
  const { reconciledAt, nextDeepReconcile = now } = tokenMemory
  const isDeep = nextDeepReconcile <= now
  const isDue =
    reconciledAt === undefined || reconciledAt + reconcileEvery <= now
  if (!isReorged && !isDeep && !isDue) return
  await reconcileToken(context, { ...watch, isDeep, isAll: false })
  tokenMemory.reconciledAt = now
  if (isDeep) tokenMemory.nextDeepReconcile = now + deepEvery
}

/** True when the node still has the newest block that earlier polls saw. */
function isHeadKnown(memory: WatchMemory, { blocks }: ChainHeads): boolean {
  const newest = newestOf(memory)
  return newest !== undefined && blocks.get(newest.number)?.hash === newest.hash
}

function newestOf({ head, seen }: WatchMemory): SeenBlock | undefined {
  return head ?? seen?.at(-1)
}

/**
 * Numbers of the blocks to request again, to compare them with those of earlier
 * polls.
 */
function numbersToAsk(memory: WatchMemory): bigint[] {
  const newest = newestOf(memory)
  const finality = findUnconfirmed(memory)
  return newest ? [newest.number, ...finality] : finality
}
