import type { Hex } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'

/** No channel of this shop has this id. */
export class ChannelNotFoundError extends CountersignError {
  override readonly name = 'ChannelNotFoundError'
  override readonly retryable = false

  constructor(facts: { channelId: Hex }) {
    super(`This shop has no channel ${facts.channelId}.`, facts)
  }
}
