import type { Client } from 'viem'
import type { KeptLease } from '../../store/keepLease.js'
import type { Lease, Submitter } from '../../store/types.js'
import { readerOf } from '../evidence/clientOf.js'
import type { Aside } from '../loop/putAside.js'
import type { OrderKinds } from '../model/kindOf.js'
import type { OrdersContext, OrderWallet } from '../model/types.js'
import { type AccountNonces, openAccountNonces } from './accountNonces.js'
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
import { openWalletMemory, type WalletMemory } from './walletMemory.js'

/**
 * State of a submitter while we hold its lease: a cache of the store, and
 * results of the last polls of the chain. Each concern owns its fields and
 * changes them in its own file; all other code reads them and calls its
 * methods.
 */
export type SubmitterState = {
  readonly wallet: OrderWallet
  readonly reader: Client
  readonly kinds: OrderKinds
  readonly aside: Aside
  /** Captures to store together with their requests. */
  readonly joins: Joins
  /** The lease under which the state was loaded; it keeps its fence. */
  readonly lease: Lease
  readonly kept: KeptLease
  readonly nonces: AccountNonces
  readonly inFlight: InFlight
  readonly broadcasts: Broadcasts
  readonly pace: LookPace
  readonly walletMemory: WalletMemory
  readonly orders: OrderMemory
  readonly openings: Openings
}

/** Creates the state after taking the lease, before anything is loaded. */
export function createSubmitter(
  context: OrdersContext,
  wallet: OrderWallet,
  held: Pick<SubmitterState, 'lease' | 'kept' | 'aside'> & {
    joins?: Joins | undefined
  },
): SubmitterState {
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
    walletMemory: openWalletMemory(),
    orders: openOrderMemory(context.recipients),
    openings: startOpenings(),
  }
}

export function submitterKey({ chainId, account }: Submitter): string {
  return `submitter:${chainId}:${account}`
}

/**
 * The kinds of work on an account nonce; each waits for its own next try if it
 * fails.
 */
const nonceWorks = ['settle', 'resend', 'replace', 'fill'] as const

/** The name under which a failure of work on an account nonce is listed. */
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

export type NonceChoice = {
  wallet: Pick<OrderWallet, 'account'>
  nonces: Pick<AccountNonces, 'value'>
}

/**
 * True when we, and not the wallet, choose the account nonces, as far as we
 * know. Then we may replace a transaction at its nonce. Pure.
 */
export function choosesNonce({ wallet, nonces }: NonceChoice): boolean {
  return wallet.account.type === 'local' || nonces.value.ignoresNonce === false
}
