import type { Client } from 'viem'
import type { KeptLease } from '../../store/keepLease.js'
import type { Lease, Submitter } from '../../store/types.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { readerOf } from '../evidence/clientOf.js'
import type { Aside } from '../loop/putAside.js'
import type { OrderKinds } from '../model/kindOf.js'
import { type AccountNonces, openAccountNonces } from './accountNonces.js'
import { type BatchMemory, openBatchMemory } from './batchMemory.js'
import {
  type Broadcasts,
  type InFlight,
  openBroadcasts,
  openInFlight,
} from './inFlight.js'
import { type Joins, openJoins } from './joins.js'
import { type LookPace, openLookPace } from './lookPace.js'
import { type Openings, startOpenings } from './openings.js'
import { type OrderMemory, openOrderMemory } from './orderMemory.js'
import { openWalletAsk, type WalletAsk } from './walletAsk.js'
import { openWalletMemory, type WalletMemory } from './walletMemory.js'

/**
 * State of a submitter while we hold its lease: a cache of the store, and
 * results of the last polls of the chain. Each member changes its fields in its
 * own file; other code only reads them and calls its methods.
 */
export type SubmitterState = {
  readonly wallet: OrderWallet
  readonly reader: Client
  readonly kinds: OrderKinds
  readonly aside: Aside
  /** Captures whose request is stored together with their transaction. */
  readonly joins: Joins
  /**
   * The lease under which the state was loaded, with its fence (a number that
   * rises each time the lease is taken).
   */
  readonly lease: Lease
  readonly kept: KeptLease
  readonly nonces: AccountNonces
  readonly inFlight: InFlight
  readonly broadcasts: Broadcasts
  readonly pace: LookPace
  readonly walletAsk: WalletAsk
  readonly walletMemory: WalletMemory
  readonly orders: OrderMemory
  readonly openings: Openings
  readonly batches: BatchMemory
}

/** Creates the empty state after the lease was taken. */
export function createSubmitter(
  context: OrdersContext,
  wallet: OrderWallet,
  held: Pick<SubmitterState, 'lease' | 'kept' | 'aside'> & {
    joins?: Joins | undefined
    walletAsk?: WalletAsk | undefined
  },
): SubmitterState {
  const { walletAsk = openWalletAsk() } = held
  return {
    wallet,
    reader: readerOf(context, wallet.submitter.chainId),
    kinds: context.kinds,
    aside: held.aside,
    joins: held.joins ?? openJoins(),
    lease: held.lease,
    kept: held.kept,
    nonces: openAccountNonces(),
    inFlight: openInFlight(),
    broadcasts: openBroadcasts(),
    pace: openLookPace(),
    walletAsk,
    walletMemory: openWalletMemory(walletAsk),
    orders: openOrderMemory(context.recipients),
    openings: startOpenings(),
    batches: openBatchMemory(),
  }
}

export function submitterKey({ chainId, account }: Submitter): string {
  return `submitter:${chainId}:${account}`
}

/**
 * Kinds of work on an account nonce. Each has its own retry timer, so a failing
 * `resend` does not delay a `settle`. `fill` uses up a nonce that would block
 * later ones.
 */
const nonceWorks = ['settle', 'resend', 'replace', 'fill'] as const

/**
 * Name under which the list of failures has failed work on an account nonce.
 */
export function nonceName(
  work: (typeof nonceWorks)[number],
  nonce: number,
): string {
  return `${work} nonce ${nonce}`
}

/**
 * Forgets the failures of an account nonce at which nothing more can happen.
 */
export function clearNonce({ aside }: SubmitterState, nonce: number): void {
  for (const work of nonceWorks) aside.clear(nonceName(work, nonce))
}

export type NonceChoice = {
  wallet: Pick<OrderWallet, 'account'>
  nonces: Pick<AccountNonces, 'value'>
}

/**
 * True when we choose the account nonces, and not the wallet, as far as we
 * know. Then we may replace a transaction at its nonce.
 */
export function choosesNonce({ wallet, nonces }: NonceChoice): boolean {
  return wallet.account.type === 'local' || nonces.value.ignoresNonce === false
}
