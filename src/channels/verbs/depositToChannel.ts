import type { Hex } from 'viem'
import { getReceipt } from '../../chain/state/getReceipt.js'
import type { SignedPayment } from '../../core/types.js'
import {
  clientOf,
  type EarlyLimits,
  waitForCapture,
} from '../../orders/engine.js'
import type { CaptureResult } from '../../orders/index.js'
import type {
  ChannelRecord,
  OrderReason,
  OrderRecord,
} from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import type { ChannelConfig } from '../contract/types.js'
import { depositIdOf, planDeposit } from '../movements/planMovement.js'
import { insertMovement, sealMovement } from '../movements/writeMovement.js'
import { aheadReason } from '../record/aheadOfChain.js'
import { claimSoon } from '../record/claimSoon.js'
import { creditEarly } from '../record/earlyDeposit.js'
import { newChannel } from '../record/newChannel.js'
import { noteMovement } from '../record/noteMovements.js'
import type { ChannelsContext } from './context.js'
import { isMovementOver } from './followMovements.js'
import { movementFacts } from './movementFacts.js'
import { refreshChannels } from './refreshChannels.js'

/** A deposit that a payer signed. */
export type WantedDeposit = {
  id: Hex
  chainId: number
  config: ChannelConfig
  /** The payment to the collector. */
  payment: SignedPayment
  /** 32 bytes that the payment's nonce was made with. */
  salt: Hex
  /**
   * Version of the channel that was judged; 0: none is on record. The deposit is
   * not made if somebody has changed the channel since. Absent: makes it anyway.
   */
  version?: number | undefined
  /** Milliseconds to wait for the transaction. */
  timeout: number
  /**
   * Limits for a credit as soon as the chain has pre-confirmed the deposit. Absent
   * to wait until a block has it.
   */
  early?: EarlyLimits | undefined
}

/** What became of a deposit. */
export type DepositResult =
  /** It is credited: the channel has the balance that the chain shows. */
  | { status: 'credited'; channel: ChannelRecord; transactionHash: Hex }
  /** It is on record, and a worker goes on with it. */
  | { status: 'pending'; channel: ChannelRecord }
  /** Another deposit of this channel is not decided yet. */
  | { status: 'busy'; channel: ChannelRecord }
  /** It cannot be made. */
  | {
      status: 'rejected'
      channel: ChannelRecord | undefined
      reason: OrderReason
    }

/**
 * Stores a deposit, has the submitter send it, and waits until a block shows it,
 * or until it is pre-confirmed if that is allowed.
 * The same deposit again waits for the first one. Run it in the channel's turn.
 *
 * @throws {@link NoSubmitterError} when no wallet may send for the recipient.
 */
export async function depositToChannel(
  channels: ChannelsContext,
  wanted: WantedDeposit,
): Promise<DepositResult> {
  const { id, timeout } = wanted
  const before = await channels.book.reload(id)
  const known = before?.depositId && (await loadDeposit(channels, before))
  const isSame = known && known.id === depositIdOf(id, wanted.payment)
  if (before && known && !isSame && !(await isDecided(channels, known)))
    return { status: 'busy', channel: before }
  // What the other deposit credited may not be copied yet.
  if (before && known && !isSame) await refreshChannels(channels, before, [id])
  const inserted = isSame ? undefined : await insertDeposit(channels, wanted)
  const order = isSame ? known : inserted?.order
  if (!order) {
    const changed = await channels.book.reload(id)
    if (changed) return { status: 'busy', channel: changed }
    return { status: 'rejected', channel: changed, reason: 'otherPayment' }
  }
  // Whatever becomes of it, the watch follows it: the channel names it.
  const result = await waitForDeposit(channels, order, {
    timeout,
    // Nobody knows whether the balance counts a deposit of an earlier call.
    early: inserted && wanted.early,
  })
  if (result.status === 'preconfirmed' && inserted) {
    const { before } = inserted
    const { id: depositId, value } = order
    const credited = await channels.book.change(id, (channel) =>
      creditEarly(channel, { depositId, before, value }),
    )
    const { transactionHash } = result
    if (credited?.reason === aheadReason)
      return { status: 'credited', channel: credited, transactionHash }
  }
  if (result.status === 'captured') {
    const at = { chainId: order.chainId, token: order.token }
    const [channel] = await refreshChannels(channels, at, [id])
    const { transactionHash } = result.proof
    if (channel) return { status: 'credited', channel, transactionHash }
  }
  const channel = await channels.book.reload(id)
  if (result.status === 'rejected') {
    const { reason } = result
    return { status: 'rejected', channel, reason: reason as OrderReason }
  }
  return channel
    ? { status: 'pending', channel }
    : { status: 'rejected', channel, reason: 'otherPayment' }
}

async function waitForDeposit(
  { context, instance }: ChannelsContext,
  order: OrderRecord,
  { timeout, early }: Pick<WantedDeposit, 'timeout' | 'early'>,
): Promise<CaptureResult> {
  const engine = instance.drive()
  if (!early) return waitForCapture(context, engine, order, { timeout })
  const asked = await engine.requestCapture(order.id, early)
  const answerAt = 'preconfirmed'
  return waitForCapture(context, engine, asked, { timeout, answerAt })
}

/**
 * True when a later deposit need not wait for this one. A captured one can be gone
 * by a reorganization that the watch has not seen yet: it is sent again.
 */
async function isDecided(
  { context }: ChannelsContext,
  order: OrderRecord,
): Promise<boolean> {
  const { state, settledHash } = order
  if (isMovementOver(order)) return true
  if (state !== 'captured' || !settledHash) return false
  return Boolean(await getReceipt(clientOf(context, order), settledHash))
}

async function loadDeposit(
  { context }: ChannelsContext,
  { depositId }: ChannelRecord,
): Promise<OrderRecord | undefined> {
  if (depositId === undefined) return undefined
  const [found] = await context.store.read((tables) =>
    tables.orders.find({ ids: [depositId] }),
  )
  return found
}

async function planWanted(channels: ChannelsContext, wanted: WantedDeposit) {
  const { id: channelId, chainId, config, payment, salt } = wanted
  const { receiver: recipient, token } = config
  const facts = await movementFacts(channels, { chainId, token, recipient })
  return planDeposit(facts, { channelId, config, payment, salt })
}

/**
 * Stores the channel, if it is new, and the deposit, in one transaction. Writes
 * nothing and returns `undefined` if the channel has another version than the
 * wanted one.
 */
async function insertDeposit(
  channels: ChannelsContext,
  wanted: WantedDeposit,
): Promise<{ order: OrderRecord; before: bigint } | undefined> {
  const { context, book, instance } = channels
  const { id, chainId, config, version } = wanted
  const { receiver: recipient, ...terms } = config
  const planned = await planWanted(channels, wanted)
  const sealed = await sealMovement(context, planned)
  const depositId = planned.order.id
  const now = context.now() / 1000n
  const inserted = await writeNew(context, async (tables) => {
    const [known] = await tables.channels.find({ ids: [id] })
    const isChanged = version !== undefined && version !== (known?.version ?? 0)
    if (isChanged) return undefined
    if (known) {
      // Has the worker follow it: it may run in another process.
      const due = claimSoon(known.due, now)
      await tables.channels.update([{ ...known, depositId, due }])
    } else {
      const row = newChannel({ ...terms, id, chainId, recipient }, now)
      await tables.channels.insert([{ ...row, depositId }])
    }
    await noteMovement(tables, [id], depositId)
    const [stored] = await tables.orders.find({ ids: [depositId] })
    const order = stored ?? (await insertMovement(context, tables, sealed))
    return { order, before: known?.balance ?? 0n }
  })
  await book.reload(id)
  if (!inserted) return undefined
  const { submitter: account } = inserted.order
  instance.drive().wake({ chainId, account })
  return inserted
}
