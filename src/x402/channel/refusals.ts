import type { ChannelRecord } from '../../store/types.js'
import { refuse, requirePayment } from '../gate/answers.js'
import type { Asked, Refusal, Terms } from '../gate/types.js'
import type { ChannelErrorCode } from '../wire/errorCodes.js'
import { showState } from './channelState.js'
import type { Reply } from './types.js'

type Name<code> = code extends `invalid_batch_settlement_evm_${infer name}`
  ? name
  : never

/** An error code of the scheme, without what they all begin with. */
export type CodeName = Name<ChannelErrorCode>

const codeOf = (name: CodeName): ChannelErrorCode =>
  `invalid_batch_settlement_evm_${name}`

/** An answer of the gate itself. */
export const built = (build: Refusal): Reply => ({ kind: 'built', build })

/** Refuses a payment. Says nothing about the channel. */
export const refusedBy =
  (asked: Asked, name: CodeName, message?: string): Refusal =>
  () =>
    requirePayment(asked, codeOf(name), message ? { message } : {})

/**
 * Asks the client to try again in a second, with the same payment. Not 402: a
 * client could pay again.
 */
export const busy: Refusal = () => refuse(503, codeOf('channel_busy'))

/** The newest voucher of a channel, as the payer signed it. */
export type KnownVoucher = { maxClaimable: bigint; signature: string }

/**
 * Refuses a voucher for a wrong amount, and tells the client the state of its
 * channel: stock clients correct their state and try again at once. With
 * `voucher`, they take `charged` from this answer. Without it, they read the
 * chain, and take what was claimed as charged.
 *
 * Pass `voucher` only if the voucher of the request is not public yet: anybody
 * could send one that a claim has published.
 */
export const correct =
  (
    asked: Asked,
    {
      terms,
      channel,
      voucher,
      name = 'cumulative_amount_mismatch',
    }: {
      terms: Terms
      channel: ChannelRecord
      voucher: KnownVoucher | undefined
      name?: CodeName
    },
  ): Refusal =>
  () => {
    const { requirements } = terms
    const extra = {
      ...requirements.extra,
      channelState: showState(channel),
      ...(voucher && {
        voucherState: {
          signedMaxClaimable: String(voucher.maxClaimable),
          signature: voucher.signature,
        },
      }),
    }
    const corrected = { ...terms, requirements: { ...requirements, extra } }
    // Alone: clients read the state in the first offer of this scheme.
    const getOpen = () => [corrected]
    return requirePayment({ ...asked, getOpen }, codeOf(name))
  }
