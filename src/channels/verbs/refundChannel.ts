import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { waitForCapture } from '../../orders/engine.js'
import type { ChannelRecord, OrderReason } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { openAuthorizer } from '../movements/authorizer.js'
import { planChannelRefund } from '../movements/planMovement.js'
import { signChannelRefund } from '../movements/signMovement.js'
import { insertMovement, sealMovement } from '../movements/writeMovement.js'
import { configOf } from '../record/configOf.js'
import { requestClaims } from './claimChannels.js'
import type { ChannelsContext } from './context.js'
import { loadChannel } from './listChannels.js'
import { movementFacts } from './movementFacts.js'
import { refreshChannels } from './refreshChannels.js'
import { type Channel, showChannel } from './showChannel.js'

/** Parameters of `refund`. */
export type RefundChannelParameters = {
  channelId: Hex
  /**
   * Base units of the token. @default all that was deposited and not charged
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
  /** It is on record, and a worker goes on with it. */
  | { status: 'pending'; channel: Channel; value: bigint }
  | {
      status: 'rejected'
      channel: Channel
      /** `nothingLeft`: nothing was deposited that is not charged. */
      reason: OrderReason | 'nothingLeft'
    }

/** Implements `refund` of `Channels`. Run it in the channel's turn. */
export async function refundChannel(
  channels: ChannelsContext,
  parameters: RefundChannelParameters,
): Promise<ChannelRefundResult> {
  checkMembers(parameters, ['channelId', 'value', 'timeout'])
  const { value: asked, timeout = 60_000 } = parameters
  const id = parseBytes32(parameters.channelId, 'channelId')
  if (asked !== undefined && (typeof asked !== 'bigint' || asked < 1n))
    throw new InvalidFieldError('value', shown(asked), 'a positive bigint')
  const { context, instance, book } = channels
  const found = await loadChannel(channels, id)
  const [fresh = found] = await refreshChannels(channels, found, [id])
  const stopped = await stopForRefund(channels, fresh, asked)
  if (!stopped)
    return {
      status: 'rejected',
      channel: showChannel(fresh),
      reason: 'nothingLeft',
    }
  const { channel, value } = stopped
  // The contract pays the refund from what is not claimed.
  await requestClaims(channels, [channel])
  const order = await insertRefund(channels, channel, value)
  const result = await waitForCapture(context, instance.drive(), order, {
    timeout,
  })
  const [copied] = await refreshChannels(channels, channel, [id])
  const shownChannel = showChannel(copied ?? channel)
  if (result.status === 'captured')
    return {
      status: 'refunded',
      channel: shownChannel,
      value,
      transactionHash: result.proof.transactionHash,
    }
  if (result.status !== 'rejected')
    return { status: 'pending', channel: shownChannel, value }
  const reopened = await book.change(id, (row) =>
    row.reason === 'refund'
      ? { ...row, state: 'open', reason: undefined }
      : undefined,
  )
  return {
    status: 'rejected',
    channel: showChannel(reopened ?? channel),
    reason: result.reason as OrderReason,
  }
}

/**
 * Takes no more requests until the refund is made, or they would be charged to
 * what it gives back. The amount is decided in the same write.
 */
async function stopForRefund(
  { book }: ChannelsContext,
  { id }: ChannelRecord,
  asked: bigint | undefined,
): Promise<{ channel: ChannelRecord; value: bigint } | undefined> {
  let value = 0n
  const channel = await book.change(id, (row) => {
    const left = row.balance - row.charged
    value = asked === undefined || asked > left ? left : asked
    const mayRefund = value > 0n && row.reason !== 'refund'
    if (!mayRefund) {
      value = 0n
      return undefined
    }
    return { ...row, state: 'stopped', reason: 'refund' }
  })
  return channel && value > 0n ? { channel, value } : undefined
}

async function insertRefund(
  channels: ChannelsContext,
  channel: ChannelRecord,
  value: bigint,
) {
  const { context, instance } = channels
  const { id: channelId, chainId, refundNonce, charged } = channel
  const config = configOf(channel)
  const now = context.now() / 1000n
  const facts = await movementFacts(channels, channel, now)
  const authorizer = await openAuthorizer(context)
  const signature = await signChannelRefund(authorizer, {
    chainId,
    channelId,
    config,
    refundNonce,
    value,
  })
  const sealed = await sealMovement(
    context,
    planChannelRefund(facts, {
      channelId,
      config,
      value,
      refundNonce,
      charged,
      signature,
    }),
  )
  const order = await writeAgain(context, async (tables) => {
    const [stored] = await tables.orders.find({ ids: [sealed.order.id] })
    return stored ?? insertMovement(context, tables, sealed)
  })
  instance.drive().wake({ chainId, account: facts.submitter })
  return order
}
