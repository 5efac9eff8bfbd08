import type { StoredValue } from '../../store/types.js'

/** What the store keeps of a submitter. */
export type SubmitterValue = {
  /** Account nonce of the next transaction of an order. */
  nextNonce: number
  /**
   * True once it is proven that the wallet chooses its own nonces; stays true.
   * `false` means that it has kept the given nonces so far.
   */
  ignoresNonce?: boolean | undefined
  /** Highest nonce that was reported as taken by someone else. */
  sharedNonce?: number | undefined
}

/**
 * An account nonce that the node reports and the record cannot explain: another
 * sender used the account, or the answer is wrong.
 */
export type NonceClaim = {
  nonce: number
  /** Looks in a row that reported this nonce. */
  looks: number
}

/** Something that every look has shown for a while. */
type Noticed = {
  looks: number
  /** Milliseconds of `performance` at the first look. */
  since: number
}

/** What we know of the account nonces of a submitter. */
export type AccountNonces = {
  readonly value: SubmitterValue
  /** A nonce the node reports that the record does not explain. */
  readonly claim: NonceClaim | undefined
  /** The store has this value: it was just loaded or written. */
  keep(value: SubmitterValue): void
  /** Sends on from a nonce; the store gets it with the next transaction. */
  continueFrom(nonce: number): void
  /** Remembers what the node claims until the next look. */
  rememberClaim(claim: NonceClaim | undefined): void
  /**
   * How many looks found the account's count past the nonce, and no receipt of
   * ours at it.
   */
  lostLooks(nonce: number): number
  /** Counts such a look. */
  noticeLost(nonce: number): Noticed
  /** Forgets all lost nonces but these: receipts were found. */
  forgetLostExcept(nonces: ReadonlySet<number>): void
  /** Forgets a lost nonce because nothing at it can happen any more. */
  forgetLost(nonce: number): void
  /**
   * Counts a look at unused nonces below used ones; forgets all others.
   *
   * @param now milliseconds of `performance`.
   */
  noticeGaps(
    nonces: readonly number[],
    now: number,
  ): ReadonlyMap<number, Noticed>
}

export function openAccountNonces(): AccountNonces {
  let value: SubmitterValue = { nextNonce: 0 }
  let claim: NonceClaim | undefined
  let gaps = new Map<number, Noticed>()
  const lost = new Map<number, Noticed>()
  return {
    get value() {
      return value
    },
    get claim() {
      return claim
    },
    keep: (written) => {
      value = written
    },
    continueFrom: (nextNonce) => {
      value = { ...value, nextNonce }
    },
    rememberClaim: (reported) => {
      claim = reported
    },
    lostLooks: (nonce) => lost.get(nonce)?.looks ?? 0,
    noticeLost: (nonce) => {
      const noticed = noticeAgain(lost.get(nonce), performance.now())
      lost.set(nonce, noticed)
      return noticed
    },
    forgetLostExcept: (nonces) => {
      for (const nonce of lost.keys())
        if (!nonces.has(nonce)) lost.delete(nonce)
    },
    forgetLost: (nonce) => {
      lost.delete(nonce)
    },
    noticeGaps: (nonces, now) => {
      gaps = new Map(
        nonces.map((nonce) => [nonce, noticeAgain(gaps.get(nonce), now)]),
      )
      return gaps
    },
  }
}

function noticeAgain(before: Noticed | undefined, now: number): Noticed {
  return {
    looks: (before?.looks ?? 0) + 1,
    since: before?.since ?? now,
  }
}

/** Parses what the store keeps of a submitter. Pure. */
export function parseSubmitterValue(
  stored: StoredValue | undefined,
): SubmitterValue {
  const { nextNonce, ignoresNonce, sharedNonce } = Object(stored)
  return {
    nextNonce: Number.isSafeInteger(nextNonce) ? nextNonce : 0,
    ...(typeof ignoresNonce === 'boolean' ? { ignoresNonce } : {}),
    ...(Number.isSafeInteger(sharedNonce) ? { sharedNonce } : {}),
  }
}
