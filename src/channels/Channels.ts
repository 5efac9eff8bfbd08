import type {
  ClaimChannelsParameters,
  ClaimReport,
} from './verbs/claimChannels.js'
import type { ChannelsHealth } from './verbs/getChannelsHealth.js'
import type {
  ChannelParameters,
  ListChannelsParameters,
  ListedChannels,
} from './verbs/listChannels.js'
import type {
  ChannelRefundResult,
  RefundChannelParameters,
} from './verbs/refundChannel.js'
import type { RotatedKey, RotateKeyParameters } from './verbs/rotateKey.js'
import type { RunChannelsParameters } from './verbs/runChannels.js'
import type { Channel } from './verbs/showChannel.js'

/** The payment channels of a shop, from `createChannels`. */
export type Channels = {
  /**
   * Loads a channel.
   *
   * @throws {@link ChannelNotFoundError}
   */
  get(parameters: ChannelParameters): Promise<Channel>
  /** Lists channels, the newest first. */
  list(parameters?: ListChannelsParameters): Promise<ListedChannels>
  /**
   * Claims what channels owe, and moves it to the recipient. Waits for the
   * transactions. Without `channelIds`, claims all channels that owe something.
   */
  claim(parameters?: ClaimChannelsParameters): Promise<ClaimReport>
  /**
   * Claims what the channel owes. Then pays the payer back the rest of the
   * deposit, or a part of it.
   *
   * @throws {@link ChannelNotFoundError}
   */
  refund(parameters: RefundChannelParameters): Promise<ChannelRefundResult>
  /**
   * Takes no more requests for a channel, and claims what it owes.
   *
   * @throws {@link ChannelNotFoundError}
   */
  stop(parameters: ChannelParameters): Promise<Channel>
  /**
   * Takes requests again after `stop`.
   *
   * @throws {@link ChannelNotFoundError}
   */
  resume(parameters: ChannelParameters): Promise<Channel>
  /**
   * Makes another key that signs claims and refunds, for new channels. Then
   * claims what all channels owe. Channels of older keys are still claimed and
   * refunded, with their key, but the gate takes no more requests for them from
   * ten seconds later on: clients deposit into a new channel.
   */
  rotateKey(parameters?: RotateKeyParameters): Promise<RotatedKey>
  /** Sums up what is owed, and names what needs attention. */
  health(): Promise<ChannelsHealth>
  /**
   * Watches for withdrawals and claims channels that are due, until the signal
   * aborts. `orders.run` sends the transactions, so run both.
   */
  run(parameters: RunChannelsParameters): Promise<void>
}
