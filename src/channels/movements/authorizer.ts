import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { parseAddress, parseBytes32 } from '../../core/fields.js'
import { hashText } from '../../core/hashText.js'
import type { OrdersContext } from '../../orders/engine.js'
import { openSealed } from '../../store/openSealed.js'
import {
  addCaller,
  authorizerPlace,
  authorizersOf,
  resealAuthorizers,
  type StoredAuthorizer,
  type StoredAuthorizers,
} from '../../store/storedAuthorizers.js'
import type { StoreWriter } from '../../store/types.js'
import { AuthorizerKeyError } from './errors.js'

/**
 * The keys that sign claims and refunds of a shop's channels
 * (`receiverAuthorizer`). The channels of a key stay with it, so keys are kept.
 */
export type Authorizer = {
  /** The address for new channels. */
  address: Address
  /** The addresses of all keys, the oldest first. */
  addresses: readonly Address[]
  /**
   * Signs a hash with the key of an address: 65 bytes, v 27 or 28.
   *
   * @throws {@link InvalidFieldError} when address or hash are malformed.
   * @throws {@link AuthorizerKeyError} when there is no such key, or it does not
   * open.
   * @throws {@link SealerUnavailableError} when the sealer does not answer.
   */
  sign(address: Address, hash: Hex): Promise<Hex>
}

type Context = Pick<OrdersContext, 'store' | 'sealer' | 'shop' | 'observe'>

/**
 * Opens the authorizer of a shop. Makes its first key if it has none: processes
 * that do so at once agree on one.
 *
 * @param caller the name of a facilitator's caller, whose keys are its own.
 * @throws {@link SealerUnavailableError} when the sealer does not answer.
 */
export async function openAuthorizer(
  context: Context,
  caller?: string | undefined,
): Promise<Authorizer> {
  const named = caller === undefined ? undefined : hashText(caller)
  const known = await resealAuthorizers(context, named)
  const stored = known?.stored ?? (await addKey(context, isFirst, named))
  return authorizerOf(context, stored)
}

/** Milliseconds after which keys are read again: they can be rotated or resealed. */
const readAgainAfter = 10_000

/** Keeps keys open, and opens them again every few seconds. */
export function keepAuthorizer(
  open: () => Promise<Authorizer>,
): () => Promise<Authorizer> {
  let since = Number.NEGATIVE_INFINITY
  let opening: Promise<Authorizer> | undefined
  return () => {
    const now = performance.now()
    if (opening && now - since <= readAgainAfter) return opening
    since = now
    opening = open()
    opening.catch(() => {
      since = Number.NEGATIVE_INFINITY
    })
    return opening
  }
}

/**
 * Makes another key for new channels. Claims of the channels of older keys go
 * on.
 *
 * @throws {@link SealerUnavailableError} when the sealer does not answer.
 */
export async function rotateAuthorizer(context: Context): Promise<Authorizer> {
  const stored = await addKey(context, () => true)
  return authorizerOf(context, stored)
}

const isFirst = (known: StoredAuthorizers | undefined) => known === undefined

/** Encrypts a new key, then stores it unless it is not wanted any more. */
async function addKey(
  context: Context,
  isWanted: (known: StoredAuthorizers | undefined) => boolean,
  caller?: Hex | undefined,
): Promise<StoredAuthorizers> {
  const { shop, store } = context
  const place = authorizersOf(shop, caller)
  const key = await sealNew(context)
  const write = async (tables: StoreWriter): Promise<StoredAuthorizers> => {
    await tables.lock(place.key)
    const known = await place.load(tables)
    if (known && !isWanted(known)) return known
    const keys = [...(known?.keys ?? []), key]
    const stored = { current: key.address, keys }
    await place.write(tables, stored)
    if (caller && !known) await addCaller(tables, shop, caller)
    return stored
  }
  return store.write(write)
}

async function sealNew(context: Context): Promise<StoredAuthorizer> {
  const secret = generatePrivateKey()
  const address = parseAddress(privateKeyToAddress(secret), 'address')
  const sealed = await context.sealer.seal(
    secret,
    authorizerPlace(context.shop, address),
  )
  return { address, sealed }
}

function authorizerOf(
  context: Context,
  { current, keys }: StoredAuthorizers,
): Authorizer {
  const addresses = keys.map(({ address }) => address)
  const opened = new Map<Address, Hex>()
  const open = async (address: Address): Promise<Hex> => {
    const known = opened.get(address)
    if (known) return known
    const stored = keys.find((key) => key.address === address)
    if (!stored)
      throw new AuthorizerKeyError({ address, problem: 'is not in the store' })
    const place = authorizerPlace(context.shop, address)
    const secret = await openSealed(context, stored.sealed, place)
    if (secret === undefined)
      throw new AuthorizerKeyError({
        address,
        problem: 'does not open with the keys of the sealer',
      })
    opened.set(address, secret as Hex)
    return secret as Hex
  }
  return {
    address: current,
    addresses,
    sign: async (address, hash) => {
      const signed = parseBytes32(hash, 'hash')
      const privateKey = await open(parseAddress(address, 'address'))
      return sign({ hash: signed, privateKey, to: 'hex' })
    },
  }
}
