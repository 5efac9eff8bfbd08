import type { BuyerClient, BuyerState } from '../../client/BuyerClient.js'
import type { PageDraft } from './draft.js'
import type { PageFailure, PageToken } from './pageData.js'
import type { PayPhase } from './pay.js'
import { attemptKey } from './sentEnd.js'
import type { Connection, FoundWallet } from './wallets.js'

export type OrderNews = {
  type: string
  /** Unix seconds. */
  at: number
}

/** Everything that the page shows. */
export type Model = {
  link: 'live' | 'lost' | 'notFound'
  order?: BuyerState | undefined
  events: readonly OrderNews[]
  /** What is signed, or was signed on this page. */
  draft?: PageDraft | undefined
  wallets: readonly FoundWallet[]
  connection?: Connection | undefined
  /** What the buyer waits for. */
  task?: 'connecting' | PayPhase | 'canceling' | undefined
  failure?: PageFailure | undefined
  /** True while the buyer chooses the wallet that cancels. */
  isChoosing: boolean
  /** True if the order was closed while the wallet still asks. */
  isUnneeded: boolean
  /** What the buyer has to send, if the shop does not. */
  call?: Awaited<ReturnType<BuyerClient['sendCancellation']>>['call']
  /** The attempt whose cancellation the buyer sent, see `attemptKey`. */
  sentEnd?: string | undefined
  showsDetails: boolean
}

/** Returns a text that changes whenever the page must be rendered again. */
export function looksOf(model: object): string {
  return JSON.stringify(model, (name, value) =>
    name === 'provider' || name === 'showsDetails' ? undefined : value,
  )
}

/** Where an order is on its way, in one word. */
export type PagePoint =
  | Exclude<BuyerState['state'], 'captured'>
  | 'signed'
  | NonNullable<BuyerState['transaction']>['finality']

export function pointOf(
  { state, transaction }: BuyerState,
  task: Model['task'],
): PagePoint {
  if (state === 'drafted') return task === 'sending' ? 'signed' : 'drafted'
  if (state === 'captured') return transaction?.finality ?? 'included'
  return state === 'capturing' && transaction ? 'preconfirmed' : state
}

/** What happened since the shop asked for a signature last. */
export function attemptOf({ events }: Model): readonly OrderNews[] {
  const types = events.map(({ type }) => type)
  return events.slice(Math.max(0, types.lastIndexOf('reauthorized')))
}

/** Unix seconds at which something happened in this attempt, if it did. */
export function timeOf(model: Model, type: string): number | undefined {
  return attemptOf(model)
    .filter((event) => event.type === type)
    .at(-1)?.at
}

const cancelable: readonly string[] = ['stored', 'capturing', 'voided']

/** True while the buyer can still end a payment that was signed. */
export function canCancel(model: Model): boolean {
  const { state = '' } = model.order ?? {}
  return cancelable.includes(state) && timeOf(model, 'accepted') !== undefined
}

/** True if the buyer sent the cancellation of this attempt. */
export function isEndSent({ order, sentEnd }: Model): boolean {
  return order !== undefined && attemptKey(order) === sentEnd
}

/** Finds the token of the order among those that the shop takes. */
export function tokenOf(
  { order }: Model,
  tokens: readonly PageToken[],
): PageToken | undefined {
  return tokens.find(
    ({ chainId, token }) => token === order?.token && chainId === order.chainId,
  )
}
