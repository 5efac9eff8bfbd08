import { CountersignError } from '../../core/CountersignError.js'

/** Why a streamed answer cannot cost more. */
type StreamRefusal =
  /** It has ended, its client has left, or its time is over. */
  | 'ended'
  /** The channel takes no more requests, or its balance does not cover it. */
  | 'stopped'
  /** Another process has served a request of the channel. */
  | 'channelChanged'

/**
 * A streamed answer cannot cost more than what is on record for it. What was
 * charged before stays charged.
 */
export class ChargeRejectedError extends CountersignError {
  override readonly name = 'ChargeRejectedError'

  constructor({ reason }: { reason: StreamRefusal }) {
    super(`Charge rejected: ${reason}.`, { reason })
  }
}

/**
 * The gate cannot sell: another database takes the payments to one of its
 * recipients, or the recipients of what is asked for were removed.
 */
export class X402SetupError extends CountersignError {
  override readonly name = 'X402SetupError'

  constructor(
    problem: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(`The x402 gate ${problem}.`, { problem, ...details })
  }
}
