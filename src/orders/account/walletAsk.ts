import type { Hash } from 'viem'
import { inTime } from '../../core/wait.js'
import type { TransactionRecord } from '../../store/types.js'

/** What a wallet answered, or why it did not. */
type WalletAnswer = { hash: Hash } | { error: unknown }

/**
 * The unfinished request to a wallet that signs and sends by itself; there is at
 * most one. A person may have to confirm it, so polls go on meanwhile, and the
 * next poll after the answer stores it. It is kept apart from the state of a
 * submitter, which a failed poll drops, so that no answer is lost.
 */
export type WalletAsk = {
  /** The transaction that the wallet was asked for; `undefined` if none. */
  readonly row: TransactionRecord | undefined
  /** Keeps a request. There must be no other. */
  begin(row: TransactionRecord, asking: Promise<Hash>): void
  /**
   * Waits a moment for the answer.
   * @returns `undefined` while there is none; each answer once.
   */
  take(
    patience: number,
  ): Promise<{ row: TransactionRecord; answer: WalletAnswer } | undefined>
}

/** @param onAnswer called when an answer comes for which no poll waited. */
export function openWalletAsk(
  onAnswer: () => void = () => undefined,
): WalletAsk {
  let open:
    | { row: TransactionRecord; asking: Promise<WalletAnswer> }
    | undefined
  let isLate = false
  return {
    get row() {
      return open?.row
    },
    begin: (row, asking) => {
      const answering = asking.then(
        (hash): WalletAnswer => ({ hash }),
        (error: unknown): WalletAnswer => ({ error }),
      )
      open = { row, asking: answering }
      isLate = false
      answering.then(() => {
        if (isLate) onAnswer()
      })
    },
    take: async (patience) => {
      if (!open) return undefined
      const { row, asking } = open
      const answer = await inTime<WalletAnswer | undefined>(
        asking,
        patience,
        () => undefined,
      )
      isLate = answer === undefined
      if (!answer) return undefined
      open = undefined
      return { row, answer }
    },
  }
}
