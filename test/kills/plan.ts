import type { SignedCancellation } from 'countersign'
import type { Orders, OrdersPolicy } from 'countersign/orders'
import type { Address, Hex } from 'viem'

/** What a process that may be killed does. */
export type Flow =
  | 'accept'
  /** Several captures in one transaction. */
  | 'batch'
  /** The same for Receive payments, by an account that delegates. */
  | 'batchDelegated'
  | 'capture'
  | 'cancel'
  | 'reconcile'
  | 'watch'
  | 'changeRecipients'
  /** Works until it is told to stop. */
  | 'work'

/** Who signs transactions: the process itself, or a wallet it asks. */
export type AccountKind = 'local' | 'jsonRpc'

export type Engine = { sqlite: string } | { postgres: string; schema: string }

export type Kill =
  | { point: string; when: 'before' | 'after' }
  /** Milliseconds from the moment the flow begins. */
  | { afterMs: number }

/** What every process of one merchant is told, as JSON. */
export type ShopPlan = {
  engine: Engine
  account: AccountKind
  url: string
  token: Address
  /** Of the merchant: development keys, worth nothing. */
  keys: readonly Hex[]
  policy: Pick<
    OrdersPolicy,
    'capture' | 'chainClock' | 'fulfilAt' | 'maxInFlight'
  > & { lease: number }
  /** Recipients without a key here. */
  recipients?: readonly Address[] | undefined
  /** The name of the shop in the store. */
  shop?: string | undefined
}

/** Everything a child process is told, as one JSON argument. */
export type Plan = ShopPlan & {
  flow: Flow
  orderIds: readonly string[]
  /** Encoded, one an order, for `accept`. */
  payments: readonly string[]
  /** One an order, for `cancel`. */
  cancellations: readonly SignedCancellation[]
  /** For `changeRecipients`. */
  change?: Parameters<Orders['changeRecipients']>[0] | undefined
  kill?: Kill | undefined
}

/** What a child process tells before it ends by itself. */
export type Told = {
  points: readonly string[]
  /** In a word each, what came of it. */
  results: readonly string[]
}

export type KilledFlow = Exclude<Flow, 'changeRecipients' | 'work'>

export const flows: readonly KilledFlow[] = [
  'accept',
  'batch',
  'batchDelegated',
  'capture',
  'cancel',
  'reconcile',
  'watch',
]

export const accountKinds: readonly AccountKind[] = ['local', 'jsonRpc']

export const isBatch = (flow: Flow): boolean => flow.startsWith('batch')
