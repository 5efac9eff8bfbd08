import type { Hex } from 'viem'
import type {
  ChannelRecord,
  OrderRecord,
  StoreWriter,
} from '../../store/types.js'
import { channelRefundIdOf } from '../movements/planMovement.js'
import { aheadReason } from '../record/aheadOfChain.js'
import { coveredState } from '../record/copyChain.js'
import { letGoDeposit } from '../record/earlyDeposit.js'
import type { ChannelsContext } from './context.js'
import { countTries, loadLastRefunds } from './loadLastRefunds.js'
import { refreshChannels } from './refreshChannels.js'

/**
 * Lets go of deposits that are final or ended unpaid, and lets channels go on
 * whose refund was not made.
 *
 * @returns the channels whose deposit or refund must be followed further, each
 * with a text that differs once one of them takes a step.
 */
export async function followMovements(
  channels: ChannelsContext,
  rows: readonly ChannelRecord[],
): Promise<ReadonlyMap<Hex, string>> {
  const { context, book, instance } = channels
  const refunding = rows.filter(mayRefund)
  const ids = rows.flatMap(({ depositId }) => depositId ?? [])
  const followed = new Map<Hex, string>()
  if (refunding.length === 0 && ids.length === 0) return followed
  const { refunds, deposits } = await context.store.read(async (tables) => ({
    refunds: await loadLastRefunds(tables, refunding),
    deposits: await tables.orders.find({ ids }),
  }))
  const byId = new Map(deposits.map((order) => [order.id, order]))
  for (const row of rows) {
    const refund = refunds.get(row.id)
    const deposit = byId.get(row.depositId ?? '')
    const open = [refund, deposit].flatMap((order) =>
      order && !isMovementOver(order) ? order : [],
    )
    if (open.length > 0) followed.set(row.id, open.map(stepOf).join())
    if (refund && isRefundFree(refund, row))
      await instance.drive().requestCapture(refund.id)
    const endsRefund =
      row.reason === 'refund' && !(refund && open.includes(refund))
    const endsDeposit =
      row.depositId !== undefined && !(deposit && open.includes(deposit))
    if (endsDeposit) {
      const kept = await book.change(row.id, letGoOf(row.depositId))
      const isEarly = row.reason === aheadReason && !kept?.depositId
      // What was credited too early is no longer.
      if (isEarly) await refreshChannels(channels, row, [row.id])
    }
    if (endsRefund) await book.change(row.id, endRefund)
  }
  return followed
}

const stepOf = ({ id, version }: OrderRecord) => `${id} ${version}`

/** A channel that the merchant stopped can be refunded too, and stays stopped. */
const mayRefund = ({ reason }: ChannelRecord): boolean =>
  reason === 'refund' || reason === 'merchant'

/** A deposit that came meanwhile was not looked up: it may be open. */
const letGoOf = (depositId: string | undefined) => (channel: ChannelRecord) =>
  channel.depositId === depositId ? letGoDeposit(channel) : undefined

/**
 * Plans how a channel goes on, as the chain covers it, once its refund was made
 * or refused. Another process may have begun the next one meanwhile.
 */
export async function endRefund(
  channel: ChannelRecord,
  tables: StoreWriter,
): Promise<ChannelRecord | undefined> {
  if (channel.reason !== 'refund') return undefined
  const refund = (await loadLastRefunds(tables, [channel])).get(channel.id)
  if (refund && (await isRefundOpen(tables, channel, refund))) return undefined
  const resumed = { ...channel, reason: undefined }
  return { ...resumed, ...coveredState(resumed) }
}

/**
 * True while a refund can be made. Its signature has no deadline on chain: once it
 * was in a transaction, anybody can send it, until the refund nonce is used. Then
 * the channel takes no charges that it would take back.
 *
 * @param last the last row of the refund nonce.
 */
export async function isRefundOpen(
  tables: Pick<StoreWriter, 'transactions'>,
  { id, refundNonce }: ChannelRecord,
  last: OrderRecord,
): Promise<boolean> {
  if (!isMovementOver(last)) return true
  if (last.state === 'captured') return false
  const orderIds = Array.from({ length: countTries(last) }, (_, at) =>
    channelRefundIdOf(id, refundNonce, at),
  )
  return (await tables.transactions.find({ orderIds })).length > 0
}

/** True when a movement is final, or can no longer be made. */
export function isMovementOver({
  state,
  finality,
  requested,
  reason,
}: OrderRecord): boolean {
  if (state === 'captured') return finality === 'finalized'
  // A rejected movement stays stored, and nobody asks for it any more, except
  // for a refund that waits for the claim before it.
  if (state === 'stored')
    return requested === undefined && reason !== 'unclaimedCharges'
  return state !== 'capturing'
}

/**
 * True for a refund that came before its claim, and can be tried again: the
 * chain shows the claim now.
 */
export function isRefundFree(
  { state, requested, reason }: OrderRecord,
  { charged, claimed }: ChannelRecord,
): boolean {
  const isRefused = state === 'stored' && requested === undefined
  return isRefused && reason === 'unclaimedCharges' && claimed >= charged
}
