import { ProblemError } from '../../client/errors.js'
import type { MerchantOrder } from '../../client/MerchantClient.js'
import { isShown } from './isShown.js'
import type { MerchantApi, OrderFilter } from './merchantApi.js'

export type FoundOrders = {
  orders: readonly MerchantOrder[]
  /** Where the next read goes on. Absent once all orders were read. */
  cursor: string | undefined
  /**
   * Unix seconds: orders that are older were not compared yet. Absent if the
   * server compared all orders.
   */
  searchedTo: string | undefined
}

/** Orders to find in one go, if there are as many. */
const wanted = 50

/** Pages of 200 orders to read in one go, at most. */
const maxPages = 10

/**
 * Seconds by which the times of neighbouring orders can be out of order: the
 * chains of a shop have clocks of their own.
 */
const disorder = 600

type Api = Pick<MerchantApi, 'list' | 'get'>

/**
 * Reads the next orders that match a filter, the newest first. The server has
 * no index of times and amounts: these the page compares itself. It jumps to
 * the newest order of the time, and reads from there on.
 */
export async function readOrders(
  api: Api,
  filter: OrderFilter,
  before?: string | undefined,
): Promise<FoundOrders> {
  const { orderId, from, to, least, most, has } = filter
  if (orderId !== undefined) {
    const orders = (await getOne(api, orderId)).filter((order) =>
      isShown(order, filter),
    )
    return { orders, cursor: undefined, searchedTo: undefined }
  }
  const isCompared = [from, to, least, most, has].some(
    (one) => one !== undefined,
  )
  const limit = isCompared ? 200 : wanted
  const orders: MerchantOrder[] = []
  let searchedTo: string | undefined
  let cursor =
    before ?? (to === undefined ? undefined : await findPlace(api, filter, to))
  for (let page = 0; page < maxPages; page += 1) {
    const answer = await api.list({ ...filter, before: cursor, limit })
    orders.push(...answer.orders.filter((order) => isShown(order, filter)))
    const oldest = answer.orders.at(-1)?.createdAt
    const isOver = Number(oldest ?? 0) < (from ?? 0) - disorder
    cursor = isOver ? undefined : answer.cursor
    searchedTo = isCompared && cursor ? oldest : undefined
    if (!isCompared || cursor === undefined || orders.length >= wanted) break
  }
  return { orders, cursor, searchedTo }
}

/**
 * Finds the cursor from which orders are older than a time, by halving: about
 * 15 requests for a million orders. Orders are listed as they were created.
 */
async function findPlace(
  api: Api,
  filter: OrderFilter,
  time: number,
): Promise<string | undefined> {
  const isLater = async (before?: string) => {
    const { orders, cursor } = await api.list({ ...filter, before, limit: 1 })
    const created = orders[0]?.createdAt
    const later = Number(created ?? 0) > time + disorder
    return later && cursor !== undefined ? BigInt(cursor) : undefined
  }
  const newest = await isLater()
  if (newest === undefined) return undefined
  let [low, high] = [0n, newest]
  // A page more or less to read costs no more than the next steps.
  while (high - low > 200n) {
    const middle = (low + high) / 2n
    const found = await isLater(String(middle))
    if (found === undefined) low = middle
    else high = found
  }
  return String(high)
}

async function getOne(
  api: Api,
  orderId: string,
): Promise<readonly MerchantOrder[]> {
  try {
    return [await api.get(orderId)]
  } catch (error) {
    // 400: no order can have such an id.
    if (error instanceof ProblemError && [400, 404].includes(error.status))
      return []
    throw error
  }
}
