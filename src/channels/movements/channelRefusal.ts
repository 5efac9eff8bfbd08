import { hashText } from '../../core/hashText.js'
import { parseRefusal } from '../../core/revertReason.js'
import type { SettlingCall } from '../../payments/kind.js'
import type { MovementTerms } from './movementTerms.js'

/** Why a movement is not sent, or failed. */
export type MovementReason = Extract<SettlingCall, { ok: false }>['reason']

/** What a node says about a call that reverts. */
export type Refusal = { data?: `0x${string}` | undefined; words: string }

/** The contract's own errors that have a name among the reasons of orders. */
const contractErrors: readonly (readonly [string, MovementReason])[] = [
  ['ClaimExceedsBalance()', 'channelWithdrawn'],
  ['ClaimExceedsCeiling()', 'wrongAmount'],
  ['InvalidRefundNonce()', 'wrongNonce'],
  ['NotReceiverAuthorizer()', 'wrongOperator'],
  ['WithdrawDelayOutOfRange()', 'windowTooLong'],
]

/**
 * Returns why the contract, or the token behind it, refuses the call of a
 * movement.
 */
export function movementReason(
  { action }: Pick<MovementTerms, 'action'>,
  { data, words }: Refusal,
): MovementReason {
  const selector = (data ?? words.match(/0x[\da-f]{8}\b/i)?.[0])
    ?.slice(0, 10)
    .toLowerCase()
  const own = contractErrors.find(
    ([signature]) => hashText(signature).slice(0, 10) === selector,
  )
  if (own) return own[1]
  const { reason } = parseRefusal({ data, words })
  switch (reason) {
    case 'blocked':
      return action === 'claim' ? 'recipientBlocked' : 'payerBlocked'
    case 'outsideWindow':
      return 'expired'
    case 'approvalRefused':
    case 'unsupportedToken':
      return 'simulationFailed'
    default:
      return reason
  }
}
