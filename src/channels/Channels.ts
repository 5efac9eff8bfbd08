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
   * Waits for a claim that is on its way, and claims only what that leaves.
   *
   * @throws {@link ChannelNotFoundError}
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link NoSubmitterError} when no wallet may send the claim.
   * @throws {@link AuthorizerKeyError} when the key that signs the claim is
   * missing, or cannot be decrypted.
   */
  claim(parameters?: ClaimChannelsParameters): Promise<ClaimReport>
  /**
   * Claims what the channel owes. Then pays the payer back the rest of the
   * deposit, or a part of it. The channel takes no requests meanwhile.
   *
   * @throws {@link ChannelNotFoundError}
   * @throws {@link InvalidFieldError} when `value` is not a positive bigint,
   * or `timeout` no number from 0 to 2,147,483,647.
   * @throws {@link NoSubmitterError} when no wallet may send the transactions.
   * @throws {@link AuthorizerKeyError} when the key that signs them is missing,
   * or cannot be decrypted.
   */
  refund(parameters: RefundChannelParameters): Promise<ChannelRefundResult>
  /**
   * Stops a channel: it takes no more requests, and `run` claims at once what
   * it owes.
   *
   * @throws {@link ChannelNotFoundError}
   */
  stop(parameters: ChannelParameters): Promise<Channel>
  /**
   * Ends a `stop`: the channel takes requests again, unless a refund, a
   * withdrawal or a missing deposit forbids it.
   *
   * @throws {@link ChannelNotFoundError}
   */
  resume(parameters: ChannelParameters): Promise<Channel>
  /**
   * Returns the account of a channel: every deposit, claim and refund on
   * record, with its gas, and what others moved, up to the balance in the
   * contract. The node must still have the receipts.
   *
   * @throws {@link ChannelNotFoundError}
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer or lacks a receipt, or the chain was reorganized meanwhile.
   */
  statement(parameters: ChannelParameters): Promise<ChannelStatement>
  /**
   * Compares every channel on record with the contract, and searches for
   * channels of your recipients that are not on record. Changes nothing. A
   * change of the last seconds is a difference until `run` has seen it.
   *
   * @throws {@link InvalidFieldError} when `fromBlock` is no block number.
   * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
   * answer.
   */
  audit(parameters?: AuditChannelsParameters): Promise<ChannelsAuditReport>
  /**
   * Makes a new key that signs the claims and refunds of new channels. Then
   * claims what all channels owe. Channels of older keys are still claimed and
   * refunded. Within ten seconds, gates take no more requests for them: clients
   * deposit into a new channel.
   *
   * @throws {@link InvalidFieldError} when `timeout` is no number from 0 to
   * 2,147,483,647. Then the key is not rotated.
   */
  rotateKey(parameters?: RotateKeyParameters): Promise<RotatedKey>
  /** Sums up what channels owe, and names those that need attention. */
  health(): Promise<ChannelsHealth>
  /**
   * Watches for withdrawals and claims channels that are due, until the signal
   * aborts. `orders.run` sends the transactions, so run both.
   */
  run(parameters: RunChannelsParameters): Promise<void>
}
