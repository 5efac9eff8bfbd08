import type { Address, Hex } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'

/** No channel of this shop has this id. */
export class ChannelNotFoundError extends CountersignError {
  override readonly name = 'ChannelNotFoundError'
  override readonly retryable = false

  constructor(facts: { channelId: Hex }) {
    super(`This shop has no channel ${facts.channelId}.`, facts)
  }
}

/** No wallet of these orders may send transactions for a channel. */
export class NoSenderError extends CountersignError {
  override readonly name = 'NoSenderError'
  override readonly retryable = false

  constructor(facts: { chainId: number; recipient: Address }) {
    super(
      `No wallet sends for ${facts.recipient} on chain ${facts.chainId}: add its wallet or a relayer to createOrders.`,
      facts,
    )
  }
}
