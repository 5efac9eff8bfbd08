import type { Address, Client, Hash } from 'viem'
import type { SignedPayment } from '../../core/types.js'
import type {
  AttemptRecord,
  JsonObject,
  Lease,
  Submitter,
  TransactionRecord,
} from '../../store/types.js'
import type { AttemptEnds } from '../model/endsOf.js'
import { OrdersSetupError } from '../model/errors.js'
import type { Aside } from '../model/putAside.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import type { RefusalPauses } from './nextPause.js'

/** What is kept of a submitter in the store. */
export type SubmitterValue = {
  /** Lowest account nonce no transaction of ours has. */
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

/** What is known of a wallet that signs and sends itself. */
type WalletWatch = {
  /** Do not ask the wallet for these until then, in ms of `performance`. */
  rests: Map<'order' | 'filler', { until: number; tries: number }>
  /** Hashes of transactions that have the account nonce we gave the wallet. */
  kept: Set<Hash>
  /** When the node first lacked a transaction, likewise, by nonce. */
  missing: Map<number, number>
  /** Nonces on record that hold up no other order. */
  passedOver: Set<number>
}

/**
 * What is known of a submitter while its lease is held: a cache of the store, and
 * what the last looks at the chain have shown.
 */
export type SubmitterState = {
  readonly wallet: OrderWallet
  /** Reads the submitter's chain. */
  readonly reader: Client
  /** The submitter's orders that failed and wait for their next try. */
  readonly aside: Aside
  readonly asked: WalletWatch
  /**
   * We send orders of these recipients; we settle what is in flight for all.
   */
  recipients: readonly Address[]
  lease: Lease
  /** Milliseconds of `performance`: the wall clock may be set back. */
  leasedAt: number
  value: SubmitterValue
  /** By nonce and bump. */
  inFlight: TransactionRecord[]
  /** When we last looked for orders of removed wallets, likewise. */
  adoptedAt: number
  /** When `open` was read, in the same. */
  loadedAt: number
  /** When what is open comes too late, by order and attempt. */
  windows: Map<string, AttemptEnds>
  /** An account with code has one transaction in flight. */
  hasCode: boolean | undefined
  tick: number
  /** Tick at which bytes were sent last, by nonce. */
  sentAt: Map<number, number>
  /** Nonces whose bytes the node finds too cheap. */
  underpriced: Set<number>
  /** Nonces the node is known to admit beyond the account's count. */
  window: number
  /** Nonces below the account's count for which no receipt of ours is known. */
  lost: Map<number, Noticed>
  /** Unused nonces below used ones. */
  gaps: Map<number, Noticed>
  /** Time of the last head that we believed, Unix seconds. */
  headTime: bigint | undefined
  /** Looks in a row with a head far ahead of that. */
  aheadLooks: number
  /** Reasons to refuse orders, by id, that the next look has to confirm. */
  doubts: Map<string, string>
  /** A nonce the node reports that the record does not explain. */
  claim: NonceClaim | undefined
  /** How long orders that were refused wait before they are tried again. */
  readonly pauses: RefusalPauses
  /** The chain took some of what was sent while the rest of it was signed. */
  isQuick: boolean
  /** The account's count at the last look. */
  count: number | undefined
  /** The lowest open nonce, and the chain's time when it became that. */
  head: { nonce: number; since: bigint } | undefined
  /** Ticks in a row in which nothing happened. */
  idle: number
  /** What the node has been given and not answered yet. */
  sending: Promise<unknown>
  /** Orders as they were found due, by id. */
  due: ReadonlyMap<string, StoredOrder>
  /** Orders as they were put on record with a transaction, by id. */
  recorded: Map<string, StoredOrder>
  /** Payments whose seals were opened ahead. */
  opened: WeakMap<AttemptRecord, Promise<SignedPayment | undefined>>
}

/** Something that every look has shown for a while. */
export type Noticed = {
  looks: number
  /** Milliseconds of `performance` at the first look. */
  since: number
}

/** Counts one more look. Pure. */
export function noticeAgain(before: Noticed | undefined, now: number): Noticed {
  return { looks: (before?.looks ?? 0) + 1, since: before?.since ?? now }
}

export function submitterKey({ chainId, account }: Submitter): string {
  return `submitter:${chainId}:${account}`
}

/** The kinds of work on an account nonce; each is put aside if it fails. */
const nonceWorks = ['settle', 'resend', 'replace', 'fill'] as const

/** The name under which work on an account nonce is put aside. */
export function nonceName(
  work: (typeof nonceWorks)[number],
  nonce: number,
): string {
  return `${work} nonce ${nonce}`
}

/** Forgets the failures of an account nonce that is done. */
export function clearNonce({ aside }: SubmitterState, nonce: number): void {
  for (const work of nonceWorks) aside.clear(nonceName(work, nonce))
}

export function windowKey({
  orderId,
  attempt,
}: Pick<TransactionRecord, 'orderId' | 'attempt'>): string {
  return `${orderId}/${attempt}`
}

/**
 * True when the submitter, not the wallet, chooses the account nonces, as far as is
 * known. Then it may use one again. Pure.
 */
export function choosesNonce({
  wallet,
  value,
}: Pick<SubmitterState, 'wallet' | 'value'>): boolean {
  return wallet.account.type === 'local' || value.ignoresNonce === false
}

/** A submitter whose lease was just taken, before anything of it was read. */
export function newSubmitter(
  wallet: OrderWallet,
  reader: Client,
  held: Pick<SubmitterState, 'lease' | 'leasedAt' | 'aside' | 'recipients'>,
): SubmitterState {
  return {
    wallet,
    reader,
    lease: held.lease,
    leasedAt: held.leasedAt,
    aside: held.aside,
    asked: {
      rests: new Map(),
      kept: new Set(),
      missing: new Map(),
      passedOver: new Set(),
    },
    recipients: held.recipients,
    value: { nextNonce: 0 },
    inFlight: [],
    adoptedAt: Number.NEGATIVE_INFINITY,
    loadedAt: 0,
    windows: new Map(),
    hasCode: undefined,
    tick: 0,
    sentAt: new Map(),
    underpriced: new Set(),
    window: Number.POSITIVE_INFINITY,
    pauses: new Map(),
    lost: new Map(),
    gaps: new Map(),
    headTime: undefined,
    aheadLooks: 0,
    doubts: new Map(),
    claim: undefined,
    isQuick: false,
    count: undefined,
    head: undefined,
    idle: 0,
    sending: Promise.resolve(),
    due: new Map(),
    recorded: new Map(),
    opened: new WeakMap(),
  }
}

export function readSubmitterValue(
  value: JsonObject | undefined,
): SubmitterValue {
  const { nextNonce, ignoresNonce, sharedNonce } = Object(value)
  return {
    nextNonce: Number.isSafeInteger(nextNonce) ? nextNonce : 0,
    ...(typeof ignoresNonce === 'boolean' ? { ignoresNonce } : {}),
    ...(Number.isSafeInteger(sharedNonce) ? { sharedNonce } : {}),
  }
}

/** The client that reads a chain. */
export function readerOf(
  { tokens }: Pick<OrdersContext, 'tokens'>,
  chainId: number,
): Client {
  const token = tokens.find((one) => one.chainId === chainId)
  if (!token)
    throw new OrdersSetupError('have no token on the chain of a wallet', {
      chainId,
    })
  return token.client
}
