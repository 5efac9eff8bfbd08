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
import type { PaymentStore, SealContext, Sealer } from './types.js'

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

export function authorizersOf({
  name = '',
}: NamedShop): Setting<StoredAuthorizers> {
  return setting(`channelAuthorizer/${name}`, keysForm)
}

export function authorizerPlace(
  { name = '' }: NamedShop,
  account: Address,
): SealContext {
  return { kind: 'authorizer', shop: name, account }
}

/**
 * Encrypts keys again whose own encryption has an older key of the sealer, so
 * that the older one can be removed. Leaves those that do not open. Returns
 * `undefined` if the shop has none.
 */
export async function resealAuthorizers(
  context: Observer & { store: PaymentStore; sealer: Sealer; shop: NamedShop },
): Promise<
  { stored: StoredAuthorizers; resealed: number; left: number } | undefined
> {
  const { store, sealer, shop } = context
  const place = authorizersOf(shop)
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
