import type { Address } from 'viem'
import { InvalidFieldError } from '../base/errors.js'
import type { Order, OrdersContext } from '../ledger/types.js'
import { readCheckedAddress } from '../reads/encodeLogFilter.js'
import type { OrderState, Scope } from '../store/types.js'
import { showOrder } from './showOrder.js'

/** Which orders `list` gives. */
export type ListOrdersParameters = {
  states?: readonly OrderState[] | undefined
  payer?: Address | undefined
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
  /** The `cursor` of the page before. */
  before?: bigint | undefined
  /** At most 200. @default 50 */
  limit?: number | undefined
}

/** A page of orders. */
export type ListedOrders = {
  orders: readonly Order[]
  /** Where the next page begins; absent after the last. */
  cursor: bigint | undefined
}

/**
 * Lists orders as they are on record, the newest first; asks no node.
 *
 * @throws {@link InvalidFieldError} when a filter is malformed.
 */
export async function listOrders(
  context: OrdersContext,
  parameters: ListOrdersParameters = {},
): Promise<ListedOrders> {
  const { states, before, limit: asked } = parameters
  const limit = readLimit(asked, { usual: 50, most: 200 })
  const payer = readAddress(parameters.payer, 'payer')
  const listed = pickScopes(context, parameters)
  if (listed.length === 0) return { orders: [], cursor: undefined }
  return context.store.read(async (tables) => {
    const rows = await tables.orders.find({
      listed,
      states,
      payer,
      before,
      limit,
    })
    const orderIds = rows.map(({ id }) => id)
    const all = rows.length ? await tables.attempts.find({ orderIds }) : []
    const proven = rows.length ? await tables.proofs.find({ orderIds }) : []
    const orders = rows.flatMap((order) => {
      const attempts = all.filter(({ orderId }) => orderId === order.id)
      const attempt = attempts.find(({ number }) => number === order.attempt)
      const proofs = proven.filter(({ orderId }) => orderId === order.id)
      return attempt ? [showOrder({ order, attempt, attempts, proofs })] : []
    })
    const cursor = rows.length < limit ? undefined : rows.at(-1)?.position
    return { orders, cursor }
  })
}

/**
 * How many rows are asked for.
 *
 * @throws {@link InvalidFieldError}
 */
export function readLimit(
  limit: number | undefined,
  { usual, most }: { usual: number; most: number },
): number {
  if (limit === undefined) return usual
  if (!Number.isInteger(limit) || limit < 1 || limit > most)
    throw new InvalidFieldError('limit', limit, `a number from 1 to ${most}`)
  return limit
}

function pickScopes(
  { scopes }: OrdersContext,
  { chainId, ...given }: ListOrdersParameters,
): Scope[] {
  const token = readAddress(given.token, 'token')
  const recipient = readAddress(given.recipient, 'recipient')
  return scopes.filter(
    (scope) =>
      (chainId ?? scope.chainId) === scope.chainId &&
      (token ?? scope.token) === scope.token &&
      (recipient ?? scope.recipient) === scope.recipient,
  )
}

function readAddress(
  value: Address | undefined,
  field: string,
): Address | undefined {
  return value === undefined ? undefined : readCheckedAddress(value, field)
}
