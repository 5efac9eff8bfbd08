import type { Address } from 'viem'
import { isInDestinations } from '../../store/isInDestinations.js'
import type {
  Destination,
  PaymentStore,
  RecipientRecord,
  StoredValue,
} from '../../store/types.js'
import type { SettledPolicy } from './types.js'

/**
 * The recipients of an instance. This is the only place that holds them:
 * everything else reads them here each time.
 *
 * Without a name they are those of the configuration. With a name they are rows
 * in the store, which all instances of the shop share.
 */
export type Shop = {
  readonly name: string | undefined
  readonly configured: ShopConfiguration
  /** Grows with each change of a named shop; 0 without a name. */
  readonly changes: number
  /** Names of the kinds of payments that the shop takes, if it says so. */
  readonly kinds: readonly string[]
  readonly policy: SettledPolicy
  readonly recipients: readonly Address[]
  /**
   * Includes removed recipients, because their orders are still watched.
   * Frozen, so that each list is prepared for look-ups once.
   */
  readonly destinations: readonly Destination[]
  /** True when a destination was removed: it takes no new orders. */
  isRemoved(destination: Destination): boolean
  /** Leaves out recipients of the configuration that another shop has. */
  leaveOut(destinations: readonly Destination[]): void
  /** Reads the shop again if another process changed it. */
  refresh(): Promise<void>
}

/** What the parameters of `createOrders` say about the shop. */
export type ShopConfiguration = {
  /** Accounts of `wallets` and `recipients`, in all tokens of this instance. */
  destinations: readonly Destination[]
  /** The parameter `recipients`. */
  recipients: readonly Address[]
  /** Absent if not given: then that of the store counts. */
  fulfilAt: SettledPolicy['fulfilAt'] | undefined
  kinds: readonly string[] | undefined
}

/** What the store has of a named shop, apart from its recipients. */
export type ShopValue = {
  changes: number
  fulfilAt?: SettledPolicy['fulfilAt'] | undefined
  kinds?: readonly string[] | undefined
}

/** The beginning of the keys of all named shops. */
export const shopPrefix = 'shop:'

export const shopKey = (name: string): string => `${shopPrefix}${name}`

export function parseShopValue(value: StoredValue | undefined): ShopValue {
  return { changes: 0, ...value }
}

/** Creates a shop that has the recipients of its configuration at first. */
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
