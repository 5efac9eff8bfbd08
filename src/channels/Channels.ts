import type {
  AuditChannelsParameters,
  ChannelsAuditReport,
} from './verbs/auditChannels.js'
import type {
  ClaimChannelsParameters,
  ClaimReport,
} from './verbs/claimChannels.js'
import type { ChannelsHealth } from './verbs/getChannelsHealth.js'
import type { ChannelStatement } from './verbs/getStatement.js'
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
   * Lists every deposit, claim and refund of a channel that is on record, with
   * its gas, and shows that they add up to what the contract counts. Asks the
   * node for the receipt of each, so it must keep receipts for that long.
   *
   * @throws {@link ChannelNotFoundError}
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer, or its chain was reorganized meanwhile.
   */
  statement(parameters: ChannelParameters): Promise<ChannelStatement>
  /**
   * Compares every channel on record with the contract, and searches for
   * channels of your recipients that are not on record. Changes nothing. What
   * happened in the last seconds is a difference until `run` has seen it.
   *
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   */
  audit(parameters?: AuditChannelsParameters): Promise<ChannelsAuditReport>
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
