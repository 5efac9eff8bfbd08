import type { Address } from 'viem'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  PaymentStore,
  RecipientRecord,
  StoredValue,
} from '../../store/types.js'
import type { SettledPolicy, Shop, ShopConfiguration } from './types.js'

/**
 * What the store keeps about a named shop. Its recipients are rows of their
 * own.
 */
export type ShopValue = {
  changes: number
  fulfilAt?: SettledPolicy['fulfilAt'] | undefined
  kinds?: readonly string[] | undefined
}

/** Prefix of the keys under which the store keeps named shops. */
export const shopPrefix = 'shop:'

export const shopKey = (name: string): string => `${shopPrefix}${name}`

export function parseShopValue(value: StoredValue | undefined): ShopValue {
  return { changes: 0, ...value }
}

/**
 * Creates the shop's view of its recipients. Until `refresh` has read the
 * store, it has the recipients of the configuration.
 */
export function openShop({
  store,
  name,
  chainIds,
  configured,
  policy: given,
}: {
  store: PaymentStore
  name: string | undefined
  chainIds: ReadonlySet<number>
  configured: ShopConfiguration
  policy: SettledPolicy
}): Shop {
  let policy = given
  let changes = 0
  let kinds: readonly string[] = []
  let destinations: readonly Destination[] = []
  let removed: readonly Destination[] = []
  let recipients: readonly Address[] = []
  const serve = (next: readonly Destination[]) => {
    destinations = Object.freeze([...next])
    recipients = [...new Set(next.map(({ recipient }) => recipient))]
  }
  serve(configured.destinations)
  const take = (value: ShopValue, rows: readonly RecipientRecord[]) => {
    const { fulfilAt = policy.fulfilAt } = value
    if (fulfilAt !== policy.fulfilAt) policy = { ...policy, fulfilAt }
    changes = value.changes
    kinds = value.kinds ?? []
    const own = rows.filter(({ chainId }) => chainIds.has(chainId))
    removed = Object.freeze(own.filter((row) => row.removed).map(placeOf))
    serve(own.map(placeOf))
  }
  return {
    name,
    configured,
    get changes() {
      return changes
    },
    get kinds() {
      return kinds
    },
    get policy() {
      return policy
    },
    get recipients() {
      return recipients
    },
    get destinations() {
      return destinations
    },
    isRemoved: (destination) => isInDestinations(destination, removed),
    leaveOut: (others) =>
      serve(
        configured.destinations.filter((one) => !isInDestinations(one, others)),
      ),
    refresh: async () => {
      if (name === undefined) return
      const found = await store.read(async (tables) => {
        const value = parseShopValue(await tables.getValue(shopKey(name)))
        if (value.changes === changes) return undefined
        return { value, rows: await tables.recipients.find({ shop: name }) }
      })
      if (found) take(found.value, found.rows)
    },
  }
}

const placeOf = ({ chainId, token, recipient }: Destination): Destination => ({
  chainId,
  token,
  recipient,
})
