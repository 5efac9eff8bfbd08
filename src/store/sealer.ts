import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { decodeBase64url, encodeBase64url } from './base64url.js'
import { encodePlace, isWellFormed } from './encodePlace.js'
import { SealError } from './errors.js'
import { noKey } from './noSeal.js'
import { packSecret, unpackSecret } from './packSecret.js'
import { openBytes, sealBytes } from './sealBytes.js'
import { keepKeys, keyName, type SealKeySource } from './sealKeys.js'
import type { SealContext, Sealer } from './types.js'

/** Options of {@link sealer}. */
export type SealerParameters = {
  /**
   * Keys by name, each 32 bytes. Never use the name of an old key for another
   * key: what the old key sealed would no longer open.
   */
  keys: Readonly<Record<string, SealKeySource>>
  /**
   * Name of the key that encrypts new secrets. The other keys only decrypt the
   * secrets that they encrypted.
   */
  current: string
  /**
   * Names of keys that are lost for good. Secrets of a lost key never open
   * again. Without an entry here, calls that use secrets fail while a secret of
   * a missing key is stored. `none` stands for secrets that were stored
   * unencrypted.
   */
  lost?: readonly string[] | undefined
}

/** Version of the format of sealed text, which is stored in each text. */
const version = '1'

const nonceLength = 24

/**
 * Encrypts signatures and raw transactions with XChaCha20-Poly1305, each with
 * its own random nonce, and binds each to its payment.
 *
 * Protects the secrets in a stolen database. Does not protect them from an
 * attacker inside the process, whose memory holds the keys.
 *
 * @throws {@link InvalidFieldError} when `current` is not the name of a key,
 * or a name is not 1 to 128 letters, digits or `_.:/@-`, or is `none`.
 * @throws {@link SealError} when a key does not have 32 bytes.
 *
 * @example
 * ```ts
 * import { sealer } from 'countersign/store'
 *
 * const seal = sealer({
 *   keys: { 'key-1': crypto.getRandomValues(new Uint8Array(32)) },
 *   current: 'key-1',
 * })
 * ```
 */
export function sealer(parameters: SealerParameters): Sealer {
  checkMembers(parameters, ['keys', 'current', 'lost'])
  const { keys, current, lost = [] } = Object(parameters) as SealerParameters
  const kept = keepKeys(keys)
  const getCurrent = kept.get(current)
  if (!getCurrent)
    throw new InvalidFieldError('current', shown(current), [...kept.keys()])
  checkLost(lost, kept)

  return {
    current,
    keyNames: [...kept.keys(), ...lost],
    seal: async (secret, context) => {
      const key = await getCurrent()
      return sealText(secret, { key, name: current, context })
    },
    open: async (sealed, context) => {
      const { name, bytes } = parseSealed(sealed)
      const key = await kept.get(name)?.()
      if (!key)
        throw new SealError(
          `was sealed with the key ${name}, which is not among your keys`,
          { key: name },
        )
      return openText(bytes, { key, name, context })
    },
  }
}

function checkLost(
  lost: readonly string[],
  kept: ReadonlyMap<string, unknown>,
): void {
  if (!Array.isArray(lost))
    throw new InvalidFieldError('lost', lost, 'a list of names of keys')
  for (const [index, name] of lost.entries())
    if (typeof name !== 'string' || !keyName.test(name) || kept.has(name))
      throw new InvalidFieldError(
        `lost[${index}]`,
        shown(name),
        'the name of a key that is not among the keys',
      )
}

type Cipher = { key: Uint8Array; name: string; context: SealContext }

function sealText(secret: string, { key, name, context }: Cipher): string {
  if (!isWellFormed(secret))
    throw new SealError('cannot be sealed: it is not well-formed text', {
      key: name,
    })
  const nonce = crypto.getRandomValues(new Uint8Array(nonceLength))
  const additional = encodePlace(version, name, context)
  const sealed = sealBytes(packSecret(secret), { key, nonce, additional })
  const bytes = new Uint8Array(nonceLength + sealed.length)
  bytes.set(nonce)
  bytes.set(sealed, nonceLength)
  return [name, version, encodeBase64url(bytes)].join(' ')
}

function openText(bytes: Uint8Array, { key, name, context }: Cipher): string {
  const nonce = bytes.subarray(0, nonceLength)
  const additional = encodePlace(version, name, context)
  const sealed = bytes.subarray(nonceLength)
  const packed = openBytes(sealed, { key, nonce, additional })
  if (packed) return unpackSecret(packed)
  throw new SealError(
    'was changed, or was sealed for something else, or with another key of the same name',
    { key: name },
  )
}

/**
 * Splits a sealed text into key name and bytes. Accepts only text in the format
 * that `sealText` writes.
 */
function parseSealed(sealed: string): { name: string; bytes: Uint8Array } {
  const [name = '', format, letters = '', ...rest] = sealed.split(' ')
  const isOurs = keyName.test(name) && name !== noKey && rest.length === 0
  const bytes =
    isOurs && format === version ? decodeBase64url(letters) : undefined
  if (bytes && bytes.length > nonceLength) return { name, bytes }
  throw new SealError('does not have the form that a sealer with keys writes')
}
