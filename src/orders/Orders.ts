import type { Address } from 'viem'
import type { DestinationOrders } from './DestinationOrders.js'
import type { RunDueParameters } from './runDue.js'
import type { RunWorkerParameters } from './runWorker.js'
import type { ArchiveParameters, ArchiveReport } from './verbs/archiveOrders.js'
import type { ChangeRecipientsParameters } from './verbs/changeRecipients.js'
import type { ProbeVerdict } from './verbs/createProbes.js'
import type { ResealParameters, ResealReport } from './verbs/resealOrders.js'

/** Parameters of `within`: the recipients to keep. */
type WithinParameters = {
  /**
   * Recipients whose orders the result may use. It finds no orders of others.
   */
  recipients: readonly Address[]
}

/**
 * All orders of a store: the methods of {@link DestinationOrders}, and those
 * that concern the whole store or shop.
 */
export interface Orders extends DestinationOrders {
  /**
   * Does all due work, for every submitter and token, until `signal` aborts or
   * you call `close`: sends transactions, records their outcomes, watches for
   * reorgs and for payment windows that end, and reconciles. First catches up
   * with the chain.
   *
   * If a node or the store fails, `run` tries again after growing pauses, and
   * reports the failure only to `observe`. Any number of workers may run over
   * one store.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws {@link OrdersSetupError} when a stored secret needs a sealing key
   * that is missing.
   * @throws {@link StoreError} when the store says `restart the process`, as
   * after a failover: end the process.
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
   * Does what `run` does, for a while: until nothing is due or in flight, at
   * most until `until`. For a cron job, a queue or an alarm, where no process
   * stays. Also runs the workers in `also` meanwhile, such as `run` of
   * subscriptions.
   *
   * Call it again at the time that it returns, and after each request that
   * creates work: `accept`, `capture`, `refund`. Several calls at a time take
   * turns, also those of other processes.
   * @returns when work is due next. The present if `until` ended the work.
   * @throws {@link InvalidFieldError} {@link OrdersSetupError}
   * {@link StoreError} as `run`; what a worker in `also` throws.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function onAlarm(
   *   orders: Orders,
   *   setAlarm: (at: Date) => Promise<void>,
   * ) {
   *   const { next } = await orders.runDue({ until: Date.now() + 20_000 })
   *   await setAlarm(next)
   * }
   * ```
   */
  runDue(parameters: RunDueParameters): Promise<{ next: Date }>

  /**
   * Says whether this process can work, or has to be restarted: it has lost its
   * store. Answers at once, and also while the store or a node does not answer.
   * Never rejects.
   *
   * Does not tell whether payments are captured: `health` does.
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export async function endIfLost(orders: Orders) {
   *   const { ok } = await orders.liveness()
   *   if (!ok) process.exit(1)
   * }
   * ```
   */
  liveness(): Promise<ProbeVerdict>

  /**
   * Says whether this process can serve: it opened the store, has every sealing
   * key that is in use, the store answers, and its tables are of this release.
   * Nodes are not asked, and a suspended shop is ready. Never rejects. Waits 3
   * seconds at most.
   *
   * All calls together look at the store once a second. An answer can be a
   * second old.
   * @example
   * ```ts
   * import { createServer } from 'node:http'
   * import type { Orders } from 'countersign/orders'
   *
   * export function serveProbes(orders: Orders, port: number) {
   *   return createServer(async ({ url }, response) => {
   *     const isLive = url === '/livez'
   *     const { ok } = await (isLive ? orders.liveness() : orders.readiness())
   *     response.writeHead(ok ? 200 : 503).end()
   *   }).listen(port)
   * }
   * ```
   */
  readiness(): Promise<ProbeVerdict>

  /**
   * Moves old orders to the archive, a second set of tables in the same
   * database, with their attempts, transactions, proofs and events. This keeps
   * the tables small that workers and checkouts use. All methods still find
   * archived orders. If one changes later, for example because you refund it,
   * it moves back by itself.
   *
   * Moves sales, charges and refunds whose end is final. Leaves all others
   * where they are, however old. Orders and workers continue meanwhile. You can
   * stop it and call it again, also from several processes at once. With
   * `memoryStore`, nothing moves.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export function archiveNightly(orders: Orders) {
   *   return orders.archive({ olderThan: 90 * 24 * 3600 })
   * }
   * ```
   */
  archive(parameters: ArchiveParameters): Promise<ArchiveReport>

  /**
   * Encrypts every secret of these orders and their channels again with the
   * current sealing key, so that an older key can be removed. Orders and workers
   * continue meanwhile. Skips secrets that cannot be decrypted, and overwrites
   * none that another process changes meanwhile.
   *
   * You can stop it and call it again, also from several processes at once.
   * Keep an older key until `health` counts no secret of it.
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
   * Stops all sending: from its next poll of a chain on, no worker of this
   * store signs, sends or replaces a transaction of any shop, until you call
   * `resume`. Orders are still drafted and accepted, and workers still watch
   * the chain.
   *
   * A worker finishes a poll that it has begun. A transaction that was sent
   * before can still be mined, and a buyer's signature stays valid until its
   * window ends.
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   *
   * export const stopEverything = (orders: Orders) => orders.suspend()
   * ```
   */
  suspend(): Promise<void>

  /**
   * Allows sending again after `suspend`, or after the database was replaced,
   * for example by a backup. After a replacement, first let `reconcile` write
   * what the database missed.
   *
   * A payment that was signed after the backup and before the loss is not in
   * the database, and is never captured.
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
   * Adds recipients to the shop, and removes others, while its processes run.
   * Each process uses the new list from its next call or poll on. Adding a
   * recipient that is there, or removing one that was removed, changes nothing.
   *
   * A removed recipient gets no new orders. Its existing orders are still
   * captured, watched, refunded and listed, and its subscriptions continue. A
   * configuration that names a removed recipient does not add it again: only
   * `add` does.
   * @throws {@link InvalidFieldError} when a parameter is malformed, or the shop
   * lacks a recipient to remove.
   * @throws {@link OrdersSetupError} when `createOrders` got no `shop`, when a
   * recipient belongs to another shop, or when no wallet sends for it.
   *
   * @example
   * ```ts
   * import type { Orders } from 'countersign/orders'
   * import type { Address } from 'viem'
   *
   * export const welcome = (orders: Orders, seller: Address) =>
   *   orders.changeRecipients({ add: [seller] })
   * ```
   */
  changeRecipients(parameters: ChangeRecipientsParameters): Promise<void>

  /**
   * Returns the same orders limited to these recipients. Pass the result to
   * code that may act for these recipients only.
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
   * Ends all work, including workers, and closes the store. Waits only a few
   * seconds for a database that does not answer.
   *
   * Transactions in flight stay in the store: the next worker continues them.
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
