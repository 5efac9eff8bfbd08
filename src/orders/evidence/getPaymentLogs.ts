import type { Address, Client, Hash, Hex } from 'viem'
import { splitTopics } from '../../chain/logs/askInParts.js'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { endOnAbort } from '../../core/onAbort.js'
import { topics } from '../../core/tokenAbi.js'
import { nextTurn } from '../../core/wait.js'
import { word } from '../../core/words.js'
import type {
  AttemptRecord,
  Destination,
  OrderRecord,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'

/** Most orders on one page, and most nonces in one query of logs. */
const slotSize = 500

/** Most open orders that one call asks about, by default. */
export const mostOpen = 4_000

export type TokenPart = {
  token: Address
  destinations: readonly Pick<Destination, 'recipient'>[]
}

/**
 * Returns the recipients as topics for log filters, in lists that are short
 * enough for a node.
 */
export function topicsOf(
  destinations: TokenPart['destinations'],
): (Hash | readonly Hash[])[] {
  const words = destinations.map(
    ({ recipient }): Hash => `0x${word(recipient)}`,
  )
  return words.length === 1 ? words : splitTopics(words)
}

/** The logs of a token in a range of blocks. */
export type PaymentLogs = {
  /** Transfers of tokens to a recipient. */
  transfers: readonly ReadLog[]
  /** Logs that used or canceled payment nonces of open orders. */
  spent: readonly ReadLog[]
}

/** Which of the open orders to ask about. */
export type OpenPart = {
  /** Position in the list of orders after which to begin. */
  after: bigint | undefined
  /** First block in which to search for nonces of these orders. */
  since: bigint
  /** Most open orders to ask about. @default 4000 */
  most?: number | undefined
}

/** Logs that used or canceled payment nonces of some of the open orders. */
export type SpentLogs = {
  spent: readonly ReadLog[]
  /**
   * Position of the last order that was asked about; absent after the last
   * order.
   */
  after: bigint | undefined
}

type Context = Pick<OrdersContext, 'store' | 'signal'>

type TokenDestinations = TokenPart & { destinations: readonly Destination[] }

/**
 * Reads transfers to the recipients, and the logs that used or canceled payment
 * nonces of some of their open orders, 500 orders at a time.
 *
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * the node refuses or does not answer.
 */
export async function getPaymentLogs(
  context: Context,
  client: Client,
  of: TokenDestinations,
  {
    fromBlock,
    toBlock,
    part,
  }: { fromBlock: bigint; toBlock: bigint; part: OpenPart },
): Promise<PaymentLogs & SpentLogs> {
  const { signal } = context
  const found = await findSlots(context, of, part)
  const reading = Promise.all([
    getTransfers(context, client, of, { fromBlock, toBlock }),
    getSlots(context, client, of, found.slots, {
      fromBlock: part.since,
      toBlock,
    }),
  ])
  // The requests above wait and retry after failures. An abort must end these
  // waits too.
  const [transfers, spent] = await endOnAbort(reading, signal)
  return { transfers, spent, after: found.after }
}

/**
 * Reads only the logs that used or canceled payment nonces of some of the open
 * orders.
 */
export async function getSpentLogs(
  context: Context,
  client: Client,
  of: TokenDestinations,
  { toBlock, part }: { toBlock: bigint; part: OpenPart },
): Promise<SpentLogs> {
  const { slots, after } = await findSlots(context, of, part)
  const range = { fromBlock: part.since, toBlock }
  const reading = getSlots(context, client, of, slots, range)
  return { spent: await endOnAbort(reading, context.signal), after }
}

/**
 * Reads the logs of transfers to recipients of a token. Leaves out transfers of
 * 0, which anyone can send from any account, any number of times.
 */
export async function getTransfers(
  context: Pick<OrdersContext, 'signal'>,
  client: Client,
  of: TokenPart,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const logs = await getTransferLogs(context, client, of, range)
  return logs.filter((log) => !isOfNothing(log))
}

/** Like {@link getTransfers}, but includes transfers of 0. */
export async function getTransferLogs(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token, destinations }: TokenPart,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const parts = await Promise.all(
    topicsOf(destinations).map((recipients) =>
      getLogs(client, {
        address: token,
        topics: [topics.transfer, null, recipients],
        ...range,
        signal,
      }),
    ),
  )
  return parts.flat()
}

function isOfNothing(log: ReadLog): boolean {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' && event.value === 0n
}

type Slot = { nonces: readonly Hex[]; payers: readonly Address[] }

/** Finds the payment nonces of some of the open orders, page by page. */
async function findSlots(
  { store, signal }: Context,
  { destinations }: TokenDestinations,
  { after: start, most = mostOpen }: OpenPart,
): Promise<{ slots: Slot[]; after: bigint | undefined }> {
  const slots: Slot[] = []
  let after = start
  for (let left = most; left > 0; ) {
    signal?.throwIfAborted()
    const limit = Math.min(slotSize, left)
    const { orders, attempts } = await store.read(async (tables) => {
      const orders = await tables.orders.find({
        unsettled: destinations,
        after,
        limit,
      })
      const orderIds = orders.map(({ id }) => id)
      const attempts = orders.length
        ? await tables.attempts.find({ orderIds })
        : []
      return { orders, attempts }
    })
    for (const slot of slotsOf(orders, attempts)) slots.push(slot)
    if (orders.length < limit) return { slots, after: undefined }
    after = orders.at(-1)?.position
    left -= orders.length
    // Pause between pages: without it, many pages would block the event loop.
    await nextTurn()
  }
  return { slots, after }
}

function slotsOf(
  orders: readonly OrderRecord[],
  attempts: readonly AttemptRecord[],
): Slot[] {
  const newest = new Map(orders.map(({ id, attempt }) => [id, attempt]))
  const nonces = attempts
    // Include older attempts that are `spendable`, because a reorg can make
    // them valid again.
    .filter(
      ({ orderId, number, spendable }) =>
        spendable || newest.get(orderId) === number,
    )
    .map(({ nonce }) => nonce)
  const payers = [...new Set(orders.flatMap(({ payer }) => payer ?? []))]
  const slots: Slot[] = []
  for (let at = 0; at < nonces.length; at += slotSize)
    slots.push({ nonces: nonces.slice(at, at + slotSize), payers })
  return slots
}

async function getSlots(
  context: Pick<OrdersContext, 'signal'>,
  client: Client,
  of: TokenPart,
  slots: readonly Slot[],
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const spent = await Promise.all(
    slots.map((slot) => getSlot(context, client, of, slot, range)),
  )
  return spent.flat()
}

function getSlot(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token }: TokenPart,
  { nonces, payers }: Slot,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const authorizers = payers.map((payer): Hash => `0x${word(payer)}`)
  return getLogs(client, {
    address: token,
    topics: [[topics.used, topics.canceled], authorizers, nonces],
    ...range,
    signal,
  })
}
