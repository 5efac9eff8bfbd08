import type { Hash } from 'viem'

/**
 * The two kinds of request to a wallet: an order, or a filler of an account
 * nonce.
 */
type AskedFor = 'order' | 'filler'

export type WalletMemory = {
  /**
   * True while we do not ask the wallet for this. A failed order does not pause
   * fillers, because other transactions wait until a gap in the nonces is
   * filled.
   */
  isResting(what: AskedFor): boolean
  /**
   * Pauses requests to a wallet that declined or failed, for longer each time:
   * it would probably fail at the next request too.
   *
   * @param seconds the first pause.
   */
  rest(what: AskedFor, seconds: number): void
  /** Ends all pauses: the wallet has sent something. */
  endRests(): void
  /** True when a transaction is known to have the nonce we gave the wallet. */
  hasKeptNonce(hash: Hash): boolean
  rememberKept(hash: Hash): void
  /**
   * Account nonces whose transactions have no outcome, and for which other
   * orders no longer wait.
   */
  readonly passedOver: ReadonlySet<number>
  /** Lets other orders go on although a nonce has no outcome. */
  passOver(nonce: number): void
  /** Forgets those of these nonces that are not in flight any more. */
  forgetPassedExcept(nonces: ReadonlySet<number>): void
  /**
   * Remembers that the node lacks the transaction of a nonce.
   *
   * @returns `performance.now()` when this was first noticed.
   */
  noticeMissing(nonce: number, now: number): number
  /** Forgets that the node lacked the transaction of a nonce. */
  forgetMissing(nonce: number): void
}

/** The longest pause, as a multiple of the first. */
const longest = 16

export function openWalletMemory(): WalletMemory {
  /** The end of each pause, as a time of `performance.now()`. */
  const rests = new Map<AskedFor, { until: number; tries: number }>()
  const kept = new Set<Hash>()
  const passedOver = new Set<number>()
  const missing = new Map<number, number>()
  return {
    isResting: (what) => {
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
