import type { Address, Hash } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseLimit, parsePosition } from '../../core/parsePage.js'
import { isListed } from '../../store/listedRoles.js'
import type {
  Destination,
  OrderQuery,
  OrderRecord,
  OrderState,
} from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { findByTransaction } from '../model/findByTransaction.js'
import { withRefunds } from '../model/loadOrders.js'
import { orderStates } from '../model/moves.js'
import { showOrder } from '../model/showOrder.js'
import type { StoredOrder } from '../model/storedOrder.js'
import type { Order } from '../model/types.js'

/** Parameters of `list`: which orders to return. */
export type ListOrdersParameters = {
  states?: readonly OrderState[] | undefined
  payer?: Address | undefined
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  /**
   * Hash of a transaction: returns only the orders that it captured, canceled
   * or refunded.
   */
  transaction?: Hash | undefined
  /** The `cursor` of the previous page. @default the newest orders */
  before?: bigint | undefined
  /** Most orders to return, up to 200. @default 50 */
  limit?: number | undefined
}

/** A page of orders. */
export type ListedOrders = {
  orders: readonly Order[]
  /** Pass it as `before` for the next page; absent on the last page. */
  cursor: bigint | undefined
}

/** Implements `list` of `DestinationOrders`. */
export async function listOrders(
  context: OrdersContext,
  parameters: ListOrdersParameters = {},
): Promise<ListedOrders> {
  checkMembers(parameters, [
    'states',
    'payer',
    'chainId',
    'token',
    'recipient',
    'transaction',
    'before',
    'limit',
  ])
  const limit = parseLimit(parameters.limit, { usual: 50, most: 200 })
  const states = parseStates(parameters.states)
  const before = parsePosition(parameters.before, 'before')
  const payer = parseAddress(parameters.payer, 'payer')
  const transaction =
    parameters.transaction === undefined
      ? undefined
      : parseBytes32(parameters.transaction, 'transaction')
  const listed = pickDestinations(context, parameters)
  if (listed.length === 0) return { orders: [], cursor: undefined }
  return context.store.read(async (tables) => {
    const query = { listed, states, payer, before, limit }
    const rows =
      transaction === undefined
        ? await tables.orders.find(query)
        : await findOfTransaction(tables, query, transaction)
    const orderIds = rows.map(({ id }) => id)
    const all = rows.length ? await tables.attempts.find({ orderIds }) : []
    const proven = rows.length ? await tables.proofs.find({ orderIds }) : []
    const found = rows.flatMap((order): [string, StoredOrder][] => {
      const attempts = all.filter(({ orderId }) => orderId === order.id)
      const attempt = attempts.find(({ number }) => number === order.attempt)
      const proofs = proven.filter(({ orderId }) => orderId === order.id)
      return attempt ? [[order.id, { order, attempt, attempts, proofs }]] : []
    })
    const listedOrders = await withRefunds(tables, new Map(found))
    const orders = [...listedOrders.values()].map(showOrder)
    const cursor = rows.length < limit ? undefined : rows.at(-1)?.position
    return { orders, cursor }
  })
}

type ListQuery = Extract<OrderQuery, { listed: readonly Destination[] }>

/**
 * Finds the orders of one transaction. There are few, so the other filters are
 * applied to its rows.
 */
async function findOfTransaction(
  tables: Parameters<typeof findByTransaction>[0],
  { listed, states, payer, before, limit }: ListQuery,
  transaction: Hash,
): Promise<readonly OrderRecord[]> {
  const { ids } = await findByTransaction(tables, listed, transaction)
  const found = ids.length ? await tables.orders.find({ ids }) : []
  return found
    .filter(
      (row) =>
        isListed(row) &&
        (states?.includes(row.state) ?? true) &&
        (payer ?? row.payer) === row.payer &&
        (before === undefined || row.position < before),
    )
    .sort((a, b) => (a.position < b.position ? 1 : -1))
    .slice(0, limit)
}

function parseStates(
  states: ListOrdersParameters['states'],
): ListOrdersParameters['states'] {
  if (states === undefined) return undefined
  if (!Array.isArray(states))
    throw new InvalidFieldError('states', shown(states), 'a list of states')
  for (const [index, state] of states.entries())
    if (!orderStates.includes(state))
      throw new InvalidFieldError(`states[${index}]`, shown(state), [
        ...orderStates,
      ])
  return states
}

function pickDestinations(
  { destinations }: OrdersContext,
  { chainId, ...given }: ListOrdersParameters,
): readonly Destination[] {
  if (chainId !== undefined && !Number.isSafeInteger(chainId))
    throw new InvalidFieldError(
      'chainId',
      shown(chainId),
      'a chain id: a positive integer',
    )
  const token = parseAddress(given.token, 'token')
  const recipient = parseAddress(given.recipient, 'recipient')
  if ((chainId ?? token ?? recipient) === undefined) return destinations
  return destinations.filter(
    (destination) =>
      (chainId ?? destination.chainId) === destination.chainId &&
      (token ?? destination.token) === destination.token &&
      (recipient ?? destination.recipient) === destination.recipient,
  )
}

function parseAddress(
  value: Address | undefined,
  field: string,
): Address | undefined {
  return value === undefined ? undefined : parseCheckedAddress(value, field)
}
