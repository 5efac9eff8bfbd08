import type { Address, Hex } from 'viem'
import type { Observer } from '../core/observeFailure.js'
import { isKeyAway } from './isKeyAway.js'
import { openSealed } from './openSealed.js'
import {
  fields,
  hexForm,
  listOf,
  type Setting,
  setting,
  textForm,
} from './setting.js'
import type {
  PaymentStore,
  SealContext,
  Sealer,
  StoreReader,
  StoreWriter,
} from './types.js'

export type StoredAuthorizer = { address: Hex; sealed: string }

/**
 * The keys that sign claims and refunds of a shop's channels, encrypted, the
 * oldest first.
 */
export type StoredAuthorizers = {
  /** The address for new channels. */
  current: Hex
  keys: readonly StoredAuthorizer[]
}

const keysForm = /* @__PURE__ */ fields<StoredAuthorizers>({
  current: hexForm,
  keys: /* @__PURE__ */ listOf(
    /* @__PURE__ */ fields<StoredAuthorizer>({
      address: hexForm,
      sealed: textForm,
    }),
  ),
})

type NamedShop = { name?: string | undefined }

/**
 * @param caller the hash of the name of a facilitator's caller, whose keys are
 * its own.
 */
export function authorizersOf(
  { name = '' }: NamedShop,
  caller?: Hex | undefined,
): Setting<StoredAuthorizers> {
  const key = caller
    ? `x402Authorizer/${caller}/${name}`
    : `channelAuthorizer/${name}`
  return setting(key, keysForm)
}

type Callers = { callers: readonly Hex[] }

const callersForm = /* @__PURE__ */ fields<Callers>({
  callers: /* @__PURE__ */ listOf(hexForm),
})

/** The callers of a facilitator that have keys, by the hashes of their names. */
const callersOf = ({ name = '' }: NamedShop): Setting<Callers> =>
  setting(`x402Authorizers/${name}`, callersForm)

/** Writes down that a caller has keys, so that these are found later. */
export async function addCaller(
  tables: StoreWriter,
  shop: NamedShop,
  caller: Hex,
): Promise<void> {
  const place = callersOf(shop)
  await tables.lock(place.key)
  const known = await place.load(tables)
  await place.write(tables, { callers: [...(known?.callers ?? []), caller] })
}

/** Whose keys there can be: those of the shop, and of each known caller. */
async function findOwners(
  tables: Pick<StoreReader, 'getValue'>,
  shop: NamedShop,
): Promise<(Hex | undefined)[]> {
  const known = await callersOf(shop).load(tables)
  return [undefined, ...(known?.callers ?? [])]
}

/** Loads all keys that sign claims and refunds. */
export async function loadAllAuthorizers(
  tables: Pick<StoreReader, 'getValue'>,
  shop: NamedShop,
): Promise<StoredAuthorizer[]> {
  const all: StoredAuthorizer[] = []
  for (const owner of await findOwners(tables, shop)) {
    const stored = await authorizersOf(shop, owner).load(tables)
    all.push(...(stored?.keys ?? []))
  }
  return all
}

export function authorizerPlace(
  { name = '' }: NamedShop,
  account: Address,
): SealContext {
  return { kind: 'authorizer', shop: name, account }
}

type AuthorizerContext = Observer & {
  store: PaymentStore
  sealer: Sealer
  shop: NamedShop
}

/** Encrypts the keys of the shop and of all callers again, as below. */
export async function resealAllAuthorizers(
  context: AuthorizerContext,
): Promise<{ resealed: number; left: number }> {
  const { store, shop } = context
  const owners = await store.read((tables) => findOwners(tables, shop))
  const total = { resealed: 0, left: 0 }
  for (const owner of owners) {
    const report = await resealAuthorizers(context, owner)
    total.resealed += report?.resealed ?? 0
    total.left += report?.left ?? 0
  }
  return total
}

/**
 * Encrypts keys again whose own encryption has an older key of the sealer, so
 * that the older one can be removed. Leaves those that do not open. Returns
 * `undefined` if the shop has none.
 */
export async function resealAuthorizers(
  context: AuthorizerContext,
  caller?: Hex | undefined,
): Promise<
  { stored: StoredAuthorizers; resealed: number; left: number } | undefined
> {
  const { store, sealer, shop } = context
  const place = authorizersOf(shop, caller)
  const known = await store.read(place.load)
  if (!known) return undefined
  const old = known.keys.filter(
    ({ sealed }) => !sealed.startsWith(`${sealer.current} `),
  )
  const fresh = new Map<string, string>()
  for (const { address, sealed } of old) {
    const text = await sealAgain(
      context,
      sealed,
      authorizerPlace(shop, address),
    )
    if (text !== undefined) fresh.set(sealed, text)
  }
  const resealed = fresh.size
  const left = old.length - resealed
  if (resealed === 0) return { stored: known, resealed, left }
  const stored = await store.write(async (tables) => {
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
  return { stored, resealed, left }
}

/**
 * Encrypts a secret with the current key. Returns `undefined` when the secret
 * cannot be decrypted, now or ever.
 */
export async function sealAgain(
  context: Observer & { sealer: Sealer },
  sealed: string,
  place: SealContext,
): Promise<string | undefined> {
  try {
    const secret = await openSealed(context, sealed, place)
    return secret === undefined
      ? undefined
      : await context.sealer.seal(secret, place)
  } catch (error) {
    // The sealer or this key is unavailable: skip the secret, so that secrets
    // of other keys need not wait.
    if (isKeyAway(error)) return undefined
    throw error
  }
}
