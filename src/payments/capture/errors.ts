import { CountersignError } from '../../core/CountersignError.js'
import type { RejectionReason } from '../../core/types.js'

type Rejection = { reason: RejectionReason; words?: string | undefined }

const sentence = ({ reason, words }: Rejection): string =>
  `${reason}${words ? ` (${words})` : ''}.`

/** The capture would fail. Nothing was sent, no tokens moved. */
export class CaptureRejectedError extends CountersignError {
  override readonly name = 'CaptureRejectedError'
  readonly reason: RejectionReason

  constructor({ reason, words }: Rejection) {
    super(`Capture rejected: ${sentence({ reason, words })}`, { reason, words })
    this.reason = reason
  }
}

/** The cancellation would fail. Nothing was sent. */
export class CancelRejectedError extends CountersignError {
  override readonly name = 'CancelRejectedError'
  readonly reason: RejectionReason

  constructor({ reason, words }: Rejection) {
    super(`Cancellation rejected: ${sentence({ reason, words })}`, {
      reason,
      words,
    })
    this.reason = reason
  }
}

/**
 * The transaction is in a block, but failed. Its gas is spent, no tokens moved.
 */
export class CaptureRevertedError extends CountersignError {
  override readonly name = 'CaptureRevertedError'
  readonly reason: RejectionReason

  constructor(rejection: Rejection & { transactionHash: string }) {
    const { transactionHash } = rejection
    super(
      `Transaction ${transactionHash} reverted: ${sentence(rejection)}`,
      rejection,
    )
    this.reason = rejection.reason
  }
}

/**
 * The node or the wallet refused the transaction, or gave no clear answer. If
 * `maybeSent` is true, wait for the outcome before you send again: otherwise
 * you could send twice.
 */
export class SendError extends CountersignError {
  override readonly name = 'SendError'
  override readonly retryable: boolean
  /**
   * True when the transaction may have been sent although this error was
   * thrown.
   */
  readonly maybeSent: boolean

  constructor({
    retryable,
    ...facts
  }: {
    transactionHash?: string | undefined
    words: string
    code?: number | undefined
    retryable: boolean
    maybeSent: boolean
  }) {
    const { maybeSent, words } = facts
    const was = maybeSent ? 'may have been' : 'was not'
    super(`The transaction ${was} sent: ${words}.`, facts)
    this.retryable = retryable
    this.maybeSent = maybeSent
  }
}

/** No account was given, or the account cannot sign or send here. */
export class AccountError extends CountersignError {
  override readonly name = 'AccountError'

  constructor(ability: 'send' | 'sign') {
    const [problem, toDo] =
      ability === 'send'
        ? ['has no account that can send', 'an account']
        : ['has no account that can sign a transaction here', 'a local account']
    super(`The client ${problem}: pass ${toDo}.`, { problem })
  }
}

/** The payment had no outcome before the timeout. */
export class OutcomeTimeoutError extends CountersignError {
  override readonly name = 'OutcomeTimeoutError'
  override readonly retryable = true

  constructor(facts: { timeout: number; hash?: string | undefined }) {
    super(`The payment had no outcome after ${facts.timeout} ms.`, facts)
  }
}
