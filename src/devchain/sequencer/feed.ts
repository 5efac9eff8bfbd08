import { invalidParams, type Json, toQuantity } from './devRpc.js'
import { matchesFilter } from './logFilter.js'

/** What one pre-confirmation adds to the block under construction. */
export type Delta = {
  /** The block so far, with its transactions in full. */
  block: Json
  /** Transactions that this pre-confirmation added. */
  transactions: readonly { transaction: Json; receipt: Json }[]
  /** Logs that this pre-confirmation added. */
  logs: readonly Json[]
}

type Subscriber = {
  kind: string
  parameter: unknown
  owner: object
  send(text: string): void
  /** Additions that are not sent yet, because `hold` is on. */
  held: Delta[]
}

/** Sends the messages of an emulated network to its WebSocket subscriptions. */
export type Feed = {
  subscribe(
    params: readonly unknown[],
    owner: object,
    send: (text: string) => void,
  ): string
  unsubscribe(id: unknown, owner: object): boolean
  /** Ends all subscriptions of a connection, which has closed. */
  leave(owner: object): void
  pushHead(head: Json): void
  pushLogs(logs: readonly Json[]): void
  pushDelta(delta: Delta): void
  /**
   * While on, subscribers get no additions. The newest 20 are kept and sent
   * when it is turned off.
   */
  hold(on: boolean): void
}

/**
 * Most additions that a node of Base keeps for a subscriber that reads slowly.
 * The node drops older ones.
 */
const bufferedDeltas = 20

const kinds = [
  'newHeads',
  'logs',
  'newPendingTransactions',
  'pendingLogs',
  'newFlashblocks',
  'newFlashblockTransactions',
]

export function createFeed(): Feed {
  const subscribers = new Map<string, Subscriber>()
  let count = 0
  let holding = false

  const deliver = (kind: string, pick: (by: Subscriber) => unknown[]) => {
    for (const [id, subscriber] of subscribers)
      if (subscriber.kind === kind)
        for (const result of pick(subscriber)) notify(id, subscriber, result)
  }
  const deliverDelta = (id: string, by: Subscriber, delta: Delta) => {
    for (const result of deltaFor(by, delta)) notify(id, by, result)
  }
  return {
    subscribe: ([kind, parameter], owner, send) => {
      if (typeof kind !== 'string' || !kinds.includes(kind))
        throw invalidParams(`unsupported subscription ${String(kind)}`)
      const id = toQuantity(++count + 0x10_0000)
      subscribers.set(id, { kind, parameter, owner, send, held: [] })
      return id
    },
    unsubscribe: (id, owner) =>
      subscribers.get(String(id))?.owner === owner &&
      subscribers.delete(String(id)),
    leave: (owner) => {
      for (const [id, subscriber] of subscribers)
        if (subscriber.owner === owner) subscribers.delete(id)
    },
    pushHead: (head) => deliver('newHeads', () => [head]),
    pushLogs: (logs) =>
      deliver('logs', ({ parameter }) =>
        logs.filter((log) => matchesFilter(log, parameter)),
      ),
    pushDelta: (delta) => {
      for (const [id, subscriber] of subscribers)
        if (holding)
          subscriber.held = [...subscriber.held, delta].slice(-bufferedDeltas)
        else deliverDelta(id, subscriber, delta)
    },
    hold: (on) => {
      holding = on
      if (on) return
      for (const [id, subscriber] of subscribers) {
        for (const delta of subscriber.held) deliverDelta(id, subscriber, delta)
        subscriber.held = []
      }
    },
  }
}

function deltaFor(
  { kind, parameter }: Subscriber,
  { block, transactions, logs }: Delta,
): unknown[] {
  if (kind === 'newFlashblocks') return [block]
  if (kind === 'pendingLogs')
    return logs.filter((log) => matchesFilter(log, parameter))
  if (kind !== 'newFlashblockTransactions') return []
  return transactions
    .filter(
      ({ receipt }) =>
        typeof parameter !== 'object' ||
        receiptLogs(receipt).some((log) => matchesFilter(log, parameter)),
    )
    .map(({ transaction, receipt }) =>
      parameter ? describe(transaction, receipt) : transaction.hash,
    )
}

function describe(transaction: Json, receipt: Json): Json {
  const { logs, status, gasUsed, cumulativeGasUsed } = receipt
  const { contractAddress, logsBloom } = receipt
  return {
    ...transaction,
    logs,
    status,
    gasUsed,
    cumulativeGasUsed,
    contractAddress,
    logsBloom,
  }
}

function receiptLogs({ logs }: Json): Json[] {
  return Array.isArray(logs) ? logs : []
}

function notify(id: string, { send }: Subscriber, result: unknown): void {
  const params = { subscription: id, result }
  send(JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }))
}
