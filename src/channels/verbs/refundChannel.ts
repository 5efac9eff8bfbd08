import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { checkTimeout } from '../../core/checkTimeout.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { lowerOf } from '../../core/lowerOf.js'
import { wait } from '../../core/wait.js'
import {
  applyTaken,
  clientOf,
  rulesOf,
  waitForCapture,
  writeCaptureRequests,
  writeChanges,
} from '../../orders/engine.js'
import type {
  ChannelRecord,
  OrderReason,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { retryStale } from '../../store/writeAgain.js'
import { getChannel } from '../contract/getChannel.js'
import { openAuthorizer } from '../movements/authorizer.js'
import { planChannelRefund } from '../movements/planMovement.js'
import { signChannelRefund } from '../movements/signMovement.js'
import {
  insertMovement,
  type SealedMovement,
  sealMovement,
} from '../movements/writeMovement.js'
import { aheadReason } from '../record/aheadOfChain.js'
import { claimSoon } from '../record/claimSoon.js'
import { configOf } from '../record/configOf.js'
import { noteMovement } from '../record/noteMovements.js'
import { requestClaims } from './claimChannels.js'
import type { ChannelsContext } from './context.js'
import { endRefund, isMovementOver, isRefundFree } from './followMovements.js'
import { loadChannel } from './listChannels.js'
import { countTries, loadLastRefunds } from './loadLastRefunds.js'
import { movementFacts } from './movementFacts.js'
import { refreshChannels } from './refreshChannels.js'
import { type Channel, showChannel } from './showChannel.js'

/** Parameters of `refund`. */
export type RefundChannelParameters = {
  channelId: Hex
  /**
   * Base units of the token, at most what was deposited and not charged: more
   * is lowered to it. @default all of it
   */
  value?: bigint | undefined
  /** Milliseconds to wait for the transactions. @default 60_000 */
  timeout?: number | undefined
}

/** What became of a refund. */
export type ChannelRefundResult =
  | {
      status: 'refunded'
      channel: Channel
      /** Base units that went back to the payer. */
      value: bigint
      transactionHash: Hex
    }
  /** The refund is on record, and a worker goes on with it. */
  | { status: 'pending'; channel: Channel; value: bigint }
  | {
      status: 'rejected'
      channel: Channel
      /**
       * `nothingLeft`: the whole deposit is charged, or no block has it yet.
       * `refundInFlight`: a refund of another amount is not decided yet.
       */
      reason: OrderReason | NotBegun
    }

type NotBegun = 'nothingLeft' | 'refundInFlight'

/** Implements `refund` of `Channels`. Run it in the channel's turn. */
export async function refundChannel(
  channels: ChannelsContext,
  parameters: RefundChannelParameters,
): Promise<ChannelRefundResult> {
  checkMembers(parameters, ['channelId', 'value', 'timeout'])
  const { value: asked, timeout = 60_000 } = parameters
  checkTimeout(timeout)
  const id = parseBytes32(parameters.channelId, 'channelId')
  if (asked !== undefined && (typeof asked !== 'bigint' || asked < 1n))
    throw new InvalidFieldError('value', shown(asked), 'a positive bigint')
  const { instance, book } = channels
  const found = await loadChannel(channels, id)
  const [fresh = found] = await refreshChannels(channels, found, [id])
  const begun = await retryStale(() => beginRefund(channels, id, asked))
  if (typeof begun === 'string')
    return { status: 'rejected', channel: showChannel(fresh), reason: begun }
  const { channel, order } = begun
  const { chainId, submitter, value = 0n } = order
  // The contract pays the refund from what is not claimed.
  await requestClaims(channels, [channel])
  instance.drive().wake({ chainId, account: submitter })
  const { result, isOver } = await waitForRefund(channels, order, timeout)
  const [copied] = await refreshChannels(channels, channel, [id])
  const shownChannel = showChannel(copied ?? channel)
  if (result.status === 'captured')
    return {
      status: 'refunded',
      channel: shownChannel,
      value: result.proof.amount ?? value,
      transactionHash: result.proof.transactionHash,
    }
  if (result.status !== 'rejected' || !isOver)
    return { status: 'pending', channel: shownChannel, value }
  const resumed = await book.change(id, endRefund)
  return {
    status: 'rejected',
    channel: showChannel(resumed ?? channel),
    reason: result.reason as OrderReason,
  }
}

/** Milliseconds between two looks at a refund that waits for its claim. */
const lookEvery = 500

/** Waits for a refund. Requests it again once the chain shows its claim. */
async function waitForRefund(
  channels: ChannelsContext,
  order: OrderRecord,
  timeout: number,
) {
  const { context, instance } = channels
  const until = performance.now() + timeout
  let asked = order
  for (;;) {
    const left = until - performance.now()
    const result = await waitForCapture(context, instance.drive(), asked, {
      timeout: Math.max(left, 0),
    })
    const [stored] = await context.store.read((tables) =>
      tables.orders.find({ ids: [order.id] }),
    )
    const isOver = stored === undefined || isMovementOver(stored)
    if (result.status !== 'rejected' || isOver || left <= 0)
      return { result, isOver }
    await wait(Math.min(lookEvery, left))
    const id = order.parentId as Hex
    const [channel] = await refreshChannels(channels, order, [id])
    const isFree = channel && isRefundFree(stored, channel)
    asked = isFree ? await instance.drive().requestCapture(order.id) : stored
  }
}

/**
 * Stores the refund and stops the channel in one write: a charge in between
 * would be paid from what the refund gives back. Joins a refund of the same
 * amount that is not decided yet.
 */
async function beginRefund(
  channels: ChannelsContext,
  id: Hex,
  asked: bigint | undefined,
): Promise<{ channel: ChannelRecord; order: OrderRecord } | NotBegun> {
  const { context, book } = channels
  const row = await book.reload(id)
  if (!row) return 'nothingLeft'
  const lasts = await context.store.read((tables) =>
    loadLastRefunds(tables, [row]),
  )
  const last = lasts.get(id)
  const left = (await loadShown(channels, row)) - row.charged
  const value = asked === undefined || asked > left ? left : asked
  // The copy of the chain may not show a captured refund yet.
  if (last && (last.state === 'captured' || !isMovementOver(last)))
    return asked === undefined || last.value === value
      ? { channel: row, order: last }
      : 'refundInFlight'
  if (value <= 0n) return 'nothingLeft'
  const now = context.now() / 1000n
  const isRepeated =
    last?.value === value &&
    row.usedAt < last.createdAt &&
    now + context.policy.safetyMargin < last.deadline &&
    mayPass(last)
  const sealed = isRepeated
    ? undefined
    : await sealRefund(channels, row, value, last)
  const isOwed = row.charged > row.claimed
  const stopped: ChannelRecord = {
    ...row,
    state: 'stopped',
    // A channel that the merchant stopped stays so.
    reason: row.reason === 'merchant' ? row.reason : 'refund',
    due: isOwed ? claimSoon(row.due, now) : row.due,
  }
  // Throws if the channel has changed: then the caller tries again.
  const order = await context.store.write(async (tables) => {
    await tables.channels.update([stopped])
    if (sealed) {
      if (last) await endTry(context, tables, last)
      await noteMovement(tables, [id], sealed.order.id)
      return insertMovement(context, tables, sealed)
    }
    const ids = last ? [last.id] : []
    return (await writeCaptureRequests(context, tables, ids)).get(ids[0] ?? '')
  })
  if (!order) return 'nothingLeft'
  const channel = { ...stopped, version: stopped.version + 1 }
  book.remember(channel)
  return { channel, order }
}

/** Loads the balance that blocks show, without a deposit credited early. */
async function loadShown(
  { context }: ChannelsContext,
  row: ChannelRecord,
): Promise<bigint> {
  if (row.reason !== aheadReason) return row.balance
  const shown = await getChannel(clientOf(context, row), { channelId: row.id })
  return lowerOf(shown.balance, row.balance)
}

/** Reasons that cannot change when the same refund is sent again. */
const lasting: readonly (OrderReason | undefined)[] = [
  'expired',
  'deadlinePassed',
  'malformedSignature',
  'sealBroken',
  'wrongSubmitter',
]

/** True for a refused refund that can be sent again as it is. */
const mayPass = ({ state, reason }: OrderRecord): boolean =>
  state === 'stored' && !lasting.includes(reason)

/**
 * Stops looking for a refused refund on chain: the call of the next one may look
 * the same.
 */
async function endTry(
  context: ChannelsContext['context'],
  tables: StoreWriter,
  { id }: OrderRecord,
): Promise<void> {
  const rules = rulesOf(context)
  for (const order of await tables.orders.find({ ids: [id] })) {
    const changes = applyTaken({ order }, { kind: 'repeated' }, rules)
    await writeChanges(tables, changes, rules.at)
  }
}

async function sealRefund(
  channels: ChannelsContext,
  channel: ChannelRecord,
  value: bigint,
  last: OrderRecord | undefined,
): Promise<SealedMovement> {
  const { context } = channels
  const { id: channelId, chainId, refundNonce, charged } = channel
  const config = configOf(channel)
  const facts = await movementFacts(channels, channel)
  const authorizer = await openAuthorizer(context)
  const signature = await signChannelRefund(authorizer, {
    chainId,
    channelId,
    config,
    refundNonce,
    value,
  })
  return sealMovement(
    context,
    planChannelRefund(facts, {
      channelId,
      config,
      value,
      refundNonce,
      tries: last && countTries(last),
      charged,
      signature,
    }),
  )
}
