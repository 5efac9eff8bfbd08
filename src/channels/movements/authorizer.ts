import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, sign } from 'viem/accounts'
import { parseAddress, parseBytes32 } from '../../core/fields.js'
import { hashText } from '../../core/hashText.js'
import type { OrdersContext } from '../../orders/engine.js'
import { openSealed } from '../../store/openSealed.js'
import {
  fields,
  hexForm,
  listOf,
  type Setting,
  setting,
  textForm,
} from '../../store/setting.js'
import type { SealContext, StoreWriter } from '../../store/types.js'
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

type StoredKey = { address: Hex; sealed: string }
type StoredKeys = { current: Hex; keys: readonly StoredKey[] }

const keysForm = /* @__PURE__ */ fields<StoredKeys>({
  current: hexForm,
  keys: /* @__PURE__ */ listOf(
    /* @__PURE__ */ fields<StoredKey>({ address: hexForm, sealed: textForm }),
  ),
})

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
  const place = settingOf(context, caller)
  const known = await context.store.read(place.load)
  const stored = known
    ? await resealKeys(context, place, known)
    : await addKey(context, place, isFirst)
  return authorizerOf(context, stored)
}

/**
 * Makes another key for new channels. Claims of the channels of older keys go
 * on.
 *
 * @throws {@link SealerUnavailableError} when the sealer does not answer.
 */
export async function rotateAuthorizer(context: Context): Promise<Authorizer> {
  const stored = await addKey(context, settingOf(context), () => true)
  return authorizerOf(context, stored)
}

const isFirst = (known: StoredKeys | undefined) => known === undefined

/** Encrypts a new key, then stores it unless it is not wanted any more. */
async function addKey(
  context: Context,
  place: Setting<StoredKeys>,
  isWanted: (known: StoredKeys | undefined) => boolean,
): Promise<StoredKeys> {
  const key = await sealNew(context)
  const write = async (tables: StoreWriter): Promise<StoredKeys> => {
    await tables.lock(place.key)
    const known = await place.load(tables)
    if (known && !isWanted(known)) return known
    const keys = [...(known?.keys ?? []), key]
    const stored = { current: key.address, keys }
    await place.write(tables, stored)
    return stored
  }
  return context.store.write(write)
}

/**
 * Encrypts keys again whose own encryption has an older key of the sealer, so
 * that the older one can be removed. Leaves those that do not open.
 */
async function resealKeys(
  context: Context,
  place: Setting<StoredKeys>,
  known: StoredKeys,
): Promise<StoredKeys> {
  const { sealer, store } = context
  const old = known.keys.filter(
    ({ sealed }) => !sealed.startsWith(`${sealer.current} `),
  )
  const fresh = new Map<string, string>()
  for (const { address, sealed } of old) {
    const at = sealOf(context, address)
    const secret = await openSealed(context, sealed, at)
    if (secret !== undefined) fresh.set(sealed, await sealer.seal(secret, at))
  }
  if (fresh.size === 0) return known
  return store.write(async (tables) => {
    await tables.lock(place.key)
    const now = (await place.load(tables)) ?? known
    const keys = now.keys.map(({ address, sealed }) => ({
      address,
      sealed: fresh.get(sealed) ?? sealed,
    }))
    const stored = { ...now, keys }
    await place.write(tables, stored)
    return stored
  })
}

async function sealNew(context: Context): Promise<StoredKey> {
  const secret = generatePrivateKey()
  const address = parseAddress(privateKeyToAddress(secret), 'address')
  const sealed = await context.sealer.seal(secret, sealOf(context, address))
  return { address, sealed }
}

function authorizerOf(
  context: Context,
  { current, keys }: StoredKeys,
): Authorizer {
  const addresses = keys.map(({ address }) => address)
  const opened = new Map<Address, Hex>()
  const open = async (address: Address): Promise<Hex> => {
    const known = opened.get(address)
    if (known) return known
    const stored = keys.find((key) => key.address === address)
    if (!stored)
      throw new AuthorizerKeyError({ address, problem: 'is not in the store' })
    const place = sealOf(context, address)
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

function settingOf(
  { shop: { name = '' } }: Context,
  caller?: string | undefined,
): Setting<StoredKeys> {
  const key =
    caller === undefined
      ? `channelAuthorizer/${name}`
      : `x402Authorizer/${hashText(caller)}/${name}`
  return setting(key, keysForm)
}

function sealOf(
  { shop: { name = '' } }: Context,
  account: Address,
): SealContext {
  return { kind: 'authorizer', shop: name, account }
}
