import type { Address } from 'viem'
import type { DestinationOrders } from './DestinationOrders.js'
import type { RunWorkerParameters } from './runWorker.js'
import type { ResealParameters, ResealReport } from './verbs/resealOrders.js'

/** What `within` takes. */
export type WithinParameters = {
  /** Who may be paid; orders of other recipients do not exist then. */
  recipients: readonly Address[]
}

/** The whole life of orders, over one store. */
export interface Orders extends DestinationOrders {
  /**
   * Does everything that is due, on every submitter and for every token, until
   * `signal` aborts or `close` is called: sends, settles, watches for reorgs
   * and ends of windows, reconciles. First it catches up with the chain.
   *
   * Tries a node or store that fails again, ever more slowly, and reports it
   * only to `observe`. Any number of workers may run over one store.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link OrdersSetupError} when a secret on record needs a sealing key
   * that is missing.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export function startWorker(orders: Orders) {
   *   const stop = new AbortController()
   *   const ended = orders.run({ signal: stop.signal })
   *   return { ended, stop: () => stop.abort() }
   * }
   * ```
   */
  run(parameters: RunWorkerParameters): Promise<void>

  /**
   * Seals every secret of these orders again with the current key, so that an
   * older key can be removed. Orders and workers go on meanwhile. Leaves secrets
   * that do not open as they are; one that changes meanwhile is not overwritten.
   *
   * May be stopped and called again, also by several processes at once. An older
   * key is needed until `health` counts no secret of it.
   *
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link OrdersSetupError} when a secret needs a key that is missing.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function canRemove(orders: Orders, key: string) {
   *   await orders.reseal()
   *   return (await orders.health()).sealKeys[key] === undefined
   * }
   * ```
   */
  reseal(parameters?: ResealParameters): Promise<ResealReport>

  /**
   * Allows captures again after a database was replaced, for example by a
   * backup. Call it once `reconcile` has written what the database missed.
   *
   * A payment that was signed after the backup and before the loss is not in
   * the database, and is never captured.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function goOn(orders: Orders) {
   *   await orders.reconcile()
   *   await orders.resume()
   * }
   * ```
   */
  resume(): Promise<void>

  /**
   * Gives the same orders as far as they are paid to these recipients, for
   * someone who may act for no other.
   *
   * @throws {@link InvalidFieldError} when an address is malformed.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Address } from 'viem'
   *
   * export const ordersOf = (orders: Orders, shop: Address) =>
   *   orders.within({ recipients: [shop] })
   * ```
   */
  within(parameters: WithinParameters): DestinationOrders

  /**
   * Ends all work, workers too, and closes the store. Waits only a few seconds
   * for a database that does not answer.
   *
   * What is in flight stays on record: the next worker goes on with it.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const stop = (orders: Orders) => orders.close()
   * ```
   */
  close(): Promise<void>
}
