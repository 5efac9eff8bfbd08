import type { Address, Client, Hash, Hex } from 'viem'
import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { getLogs } from '../../chain/logs/getLogs.js'
import type { ReadLog } from '../../chain/logs/types.js'
import { endOnAbort } from '../../core/onAbort.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import type { Destination } from '../../store/types.js'
import type { OrdersContext } from '../model/types.js'

/** Orders whose events are asked for at once. */
const slotSize = 500

/** What happened to a destination in a range of blocks. */
export type PaymentLogs = {
  /** Tokens that reached the recipient. */
  transfers: readonly ReadLog[]
  /** Nonces of open orders that were used or canceled. */
  spent: readonly ReadLog[]
}

/**
 * Reads what reached a recipient, and what spent the nonces of open orders,
 * 500 orders at a time.
 *
 * @throws {@link LogRangeError} {@link NodeError} {@link NodeAnswerError} when
 * the node refuses or does not answer.
 */
export async function getPaymentLogs(
  context: Pick<OrdersContext, 'store' | 'signal'>,
  client: Client,
  destination: Destination,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<PaymentLogs> {
  const { store, signal } = context
  const slots: Slot[] = []
  await store.read(async ({ orders, attempts }) => {
    let after: bigint | undefined
    for (;;) {
      signal?.throwIfAborted()
      const page = await orders.find({
        unsettled: destination,
        after,
        limit: slotSize,
      })
      const last = page.at(-1)
      if (!last) return
      const rows = await attempts.find({ orderIds: page.map(({ id }) => id) })
      const newest = new Map(page.map(({ id, attempt }) => [id, attempt]))
      const nonces = rows
        // An older one is open where its end was taken back.
        .filter(
          ({ orderId, number, spendable }) =>
            spendable || newest.get(orderId) === number,
        )
        .map(({ nonce }) => nonce)
      const payers = page.flatMap(({ payer }) => payer ?? [])
      for (let at = 0; at < nonces.length; at += slotSize)
        slots.push({
          nonces: nonces.slice(at, at + slotSize),
          payers: [...new Set(payers)],
        })
      after = last.position
    }
  })
  const reading = Promise.all([
    getTransfers(context, client, destination, range),
    ...slots.map((slot) => getSlot(context, client, destination, slot, range)),
  ])
  // Faults are waited out there, which nobody has the time for any more.
  const [transfers, ...spent] = await endOnAbort(reading, signal)
  return { transfers, spent: spent.flat() }
}

/**
 * Logs of transfers to the recipient of a destination. Leaves out transfers of 0,
 * which anyone can send from any account, any number of times.
 */
export async function getTransfers(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token, recipient }: Pick<Destination, 'token' | 'recipient'>,
  range: { fromBlock: bigint; toBlock: bigint },
): Promise<ReadLog[]> {
  const logs = await getLogs(client, {
    address: token,
    topics: [topics.transfer, null, `0x${word(recipient)}`],
    ...range,
    signal,
  })
  return logs.filter((log) => !isOfNothing(log))
}

function isOfNothing(log: ReadLog): boolean {
  const event = decodeTokenLog(log)
  return event?.name === 'Transfer' && event.value === 0n
}

type Slot = { nonces: readonly Hex[]; payers: readonly Address[] }

function getSlot(
  { signal }: Pick<OrdersContext, 'signal'>,
  client: Client,
  { token }: Destination,
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
