import type { Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { waitForCapture } from '../../orders/engine.js'
import type {
  ChannelRecord,
  OrderReason,
  OrderRecord,
} from '../../store/types.js'
import { retryStale } from '../../store/writeAgain.js'
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
      /**
       * `nothingLeft`: nothing was deposited that is not charged.
       * `unclaimedCharges`: the claim of what was charged is not made yet; try
       * again later.
       */
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
  // The contract pays the refund from what is not claimed: a refund that is on
  // record before the claim is made would be refused.
  const claimed = await claimFirst(channels, fresh, timeout)
  const begun = await beginRefund(channels, id, asked)
  if (typeof begun === 'string')
    return {
      status: 'rejected',
      channel: showChannel(claimed),
      reason: begun,
    }
  const { channel, order, value } = begun
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

/** Claims what is owed, and waits for it. */
async function claimFirst(
  channels: ChannelsContext,
  channel: ChannelRecord,
  timeout: number,
): Promise<ChannelRecord> {
  const { context, instance } = channels
  const mayClaim = channel.charged > channel.claimed && hasLeft(channel)
  if (!mayClaim) return channel
  const orders = await requestClaims(channels, [channel])
  const drive = instance.drive()
  await Promise.all(
    orders.map((order) => waitForCapture(context, drive, order, { timeout })),
  )
  const [copied] = await refreshChannels(channels, channel, [channel.id])
  return copied ?? channel
}

const hasLeft = ({ balance, charged, reason }: ChannelRecord): boolean =>
  balance > charged && reason !== 'refund'

type BegunRefund = {
  channel: ChannelRecord
  order: OrderRecord
  /** Base units. */
  value: bigint
}

/**
 * Takes no more requests until the refund is made, or they would be charged to
 * what it gives back. Stores the refund in the same transaction: a worker lets a
 * channel go on that has no refund on record.
 */
function beginRefund(
  channels: ChannelsContext,
  id: Hex,
  asked: bigint | undefined,
): Promise<BegunRefund | 'nothingLeft' | 'unclaimedCharges'> {
  const { context, book, instance } = channels
  const { store } = context
  return retryStale(async () => {
    const row = await book.reload(id)
    if (!row || row.reason === 'refund') return 'nothingLeft'
    const left = row.balance - row.charged
    const value = asked === undefined || asked > left ? left : asked
    if (value <= 0n) return 'nothingLeft'
    // Its claim is not made yet, or another process has charged meanwhile.
    if (row.charged > row.claimed) return 'unclaimedCharges'
    const sealed = await planRefund(channels, row, value)
    const channel: ChannelRecord = {
      ...row,
      state: 'stopped',
      // What the merchant stopped takes no requests anyway, and stays stopped.
      reason: row.reason === 'merchant' ? 'merchant' : 'refund',
    }
    const order = await store.write(async (tables) => {
      await tables.channels.update([channel])
      const [stored] = await tables.orders.find({ ids: [sealed.order.id] })
      return stored ?? insertMovement(context, tables, sealed)
    })
    const written = { ...channel, version: channel.version + 1 }
    book.remember(written)
    instance.drive().wake({ chainId: row.chainId, account: order.submitter })
    return { channel: written, order, value: order.value }
  })
}

async function planRefund(
  channels: ChannelsContext,
  channel: ChannelRecord,
  value: bigint,
) {
  const { context } = channels
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
  const planned = planChannelRefund(facts, {
    channelId,
    config,
    value,
    refundNonce,
    charged,
    signature,
  })
  return sealMovement(context, planned)
}
