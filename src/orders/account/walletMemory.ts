import type { Hash } from 'viem'
import type { WalletAsk } from './walletAsk.js'

/**
 * What we ask a wallet to send: the transaction of an order, or a filler, which
 * only uses up an account nonce.
 */
type AskedFor = 'order' | 'filler'

export type WalletMemory = {
  /**
   * True while we do not ask the wallet for this kind of transaction, because
   * it has not answered yet, or has declined or failed. A failed order does
   * not pause fillers, because other transactions wait until a gap in the
   * nonces is filled.
   */
  isResting(what: AskedFor): boolean
  /**
   * Pauses requests to a wallet that declined or failed, for longer each time,
   * because it would probably fail again.
   * @param seconds the first pause.
   */
  rest(what: AskedFor, seconds: number): void
  /** Ends all pauses, because the wallet has sent something. */
  endRests(): void
  /**
   * True when this transaction is known to have the nonce that we gave the
   * wallet.
   */
  hasKeptNonce(hash: Hash): boolean
  rememberKept(hash: Hash): void
  /**
   * Account nonces whose transactions have no outcome yet, but for which other
   * orders no longer wait.
   */
  readonly passedOver: ReadonlySet<number>
  /**
   * Lets other orders be sent although the transaction at this nonce has no
   * outcome.
   */
  passOver(nonce: number): void
  /** Removes all nonces from `passedOver` except these. */
  forgetPassedExcept(nonces: ReadonlySet<number>): void
  /**
   * Records that the node lacks the transaction of a nonce.
   * @returns `performance.now()` when this was first noticed.
   */
  noticeMissing(nonce: number, now: number): number
  /** Forgets that the node lacked the transaction of a nonce. */
  forgetMissing(nonce: number): void
}

/** The longest pause, as a multiple of the first one. */
const longest = 16

/** @param ask no other transaction is asked for before it is answered. */
export function openWalletMemory(ask: Pick<WalletAsk, 'row'>): WalletMemory {
  /**
   * End of each pause as a time of `performance.now()`, and the number of
   * failed tries.
   */
  const rests = new Map<AskedFor, { until: number; tries: number }>()
  const kept = new Set<Hash>()
  const passedOver = new Set<number>()
  const missing = new Map<number, number>()
  return {
    isResting: (what) => {
      if (ask.row) return true
      const now = performance.now()
      const isPaused = (one: AskedFor) => now < (rests.get(one)?.until ?? now)
      return isPaused('filler') || (what === 'order' && isPaused('order'))
    },
    rest: (what, seconds) => {
      const tries = rests.get(what)?.tries ?? 0
      const pause = seconds * 1000 * Math.min(2 ** tries, longest)
      rests.set(what, { until: performance.now() + pause, tries: tries + 1 })
    },
    endRests: () => rests.clear(),
    hasKeptNonce: (hash) => kept.has(hash),
    rememberKept: (hash) => {
      kept.add(hash)
    },
    passedOver,
    passOver: (nonce) => {
      passedOver.add(nonce)
    },
    forgetPassedExcept: (nonces) => {
      for (const nonce of passedOver)
        if (!nonces.has(nonce)) passedOver.delete(nonce)
    },
    noticeMissing: (nonce, now) => {
      const since = missing.get(nonce) ?? now
      missing.set(nonce, since)
      return since
    },
    forgetMissing: (nonce) => {
      missing.delete(nonce)
    },
  }
}
