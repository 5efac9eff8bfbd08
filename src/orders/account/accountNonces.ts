import type { StoredValue } from '../../store/types.js'

/** What the store keeps about the account nonces of a submitter. */
export type SubmitterValue = {
  /** Account nonce of the next transaction for an order. */
  nextNonce: number
  /**
   * Who chooses the account nonces of a wallet that sends by itself. `true`:
   * the wallet once used another nonce than the one we gave it; this never
   * changes back. `false`: so far it has used ours.
   */
  ignoresNonce?: boolean | undefined
  /** Highest account nonce that we reported as used by someone else. */
  sharedNonce?: number | undefined
  /**
   * Set after a backup was restored. The lost database may have signed
   * transactions that this one lacks, so we use up their account nonces with
   * empty transactions before we sign anything else. `true` until the chain
   * shows which nonces these are; then the first nonce after them.
   */
  fillTo?: number | true | undefined
  /**
   * When the last transaction with several payments reverted, in Unix seconds.
   */
  revertedAt?: number | undefined
  /** Unix seconds until which payments go alone: too many of these reverted. */
  aloneUntil?: number | undefined
  /**
   * Time of the newest block, in Unix seconds, when the last transaction for an
   * order was recorded. Tells a worker that starts later whether its node is at
   * an older state.
   */
  headTime?: number | undefined
}

/**
 * An account nonce that the node reports and that none of our stored
 * transactions explains: either someone else used the account, or the answer is
 * wrong.
 */
export type NonceClaim = {
  nonce: number
  /** Number of polls in a row in which the node reported this nonce. */
  looks: number
}

type Noticed = {
  looks: number
  /** `performance.now()` at the first poll that found these gaps. */
  since: number
}

export type AccountNonces = {
  readonly value: SubmitterValue
  /**
   * An account nonce that the node reports and no stored transaction explains.
   */
  readonly claim: NonceClaim | undefined
  keep(value: SubmitterValue): void
  /**
   * Returns the value to store together with new transactions for orders.
   * @param options.added number of these transactions.
   * @param options.headTime time of the newest block, in Unix seconds.
   */
  valueAfter(options: {
    added: number
    headTime: bigint | undefined
  }): SubmitterValue
  /**
   * Sets the account nonce of the next transaction. It is stored together with
   * that transaction.
   */
  continueFrom(nonce: number): void
  rememberClaim(claim: NonceClaim | undefined): void
  /**
   * Number of polls that found the account's transaction count past this nonce,
   * but no receipt of our transactions at it.
   */
  lostLooks(nonce: number): number
  /**
   * Counts the poll in which a nonce was passed without a receipt, once for all
   * payments at the nonce.
   * @param look number of the poll.
   */
  noticeLost(nonce: number, look: number): Noticed
  /**
   * Forgets the counts of `noticeLost` for all other nonces: their transactions
   * are mined or pending.
   */
  forgetLostExcept(nonces: ReadonlySet<number>): void
  /**
   * Forgets the count of `noticeLost` for a nonce at which nothing more can
   * happen.
   */
  forgetLost(nonce: number): void
  /**
   * Counts one more poll that found these gaps (unused nonces below used ones),
   * and forgets all other gaps.
   * @param now milliseconds of `performance.now()`.
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
  const lost = new Map<number, Noticed & { look: number }>()
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
    valueAfter: ({ added, headTime }) => ({
      ...value,
      nextNonce: value.nextNonce + added,
      ...(headTime === undefined ? {} : { headTime: Number(headTime) }),
    }),
    continueFrom: (nextNonce) => {
      value = { ...value, nextNonce }
    },
    rememberClaim: (reported) => {
      claim = reported
    },
    lostLooks: (nonce) => lost.get(nonce)?.looks ?? 0,
    noticeLost: (nonce, look) => {
      const before = lost.get(nonce)
      if (before?.look === look) return before
      const noticed = { ...noticeAgain(before, performance.now()), look }
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

/**
 * Parses what the store keeps about a submitter. Malformed fields get defaults.
 */
export function parseSubmitterValue(
  stored: StoredValue | undefined,
): SubmitterValue {
  const { nextNonce, ignoresNonce, sharedNonce, fillTo } = Object(stored)
  const { revertedAt, aloneUntil, headTime } = Object(stored)
  return {
    nextNonce: Number.isSafeInteger(nextNonce) ? nextNonce : 0,
    ...(typeof ignoresNonce === 'boolean' ? { ignoresNonce } : {}),
    ...(Number.isSafeInteger(sharedNonce) ? { sharedNonce } : {}),
    ...(Number.isSafeInteger(fillTo) || fillTo === true ? { fillTo } : {}),
    ...(Number.isSafeInteger(revertedAt) ? { revertedAt } : {}),
    ...(Number.isSafeInteger(aloneUntil) ? { aloneUntil } : {}),
    ...(Number.isSafeInteger(headTime) ? { headTime } : {}),
  }
}
