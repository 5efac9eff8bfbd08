import { InvalidFieldError, shown } from '../core/errors.js'
import { isBytes } from '../core/isBytes.js'
import { growingPause } from '../core/keepTrying.js'
import { inTime } from '../core/wait.js'
import { SealError, StoreError } from './errors.js'
import { noKey } from './noSeal.js'

/** A key of the merchant: 32 random bytes. */
type SealKey = Uint8Array

/** A key, or a function that fetches it, for example from a key service. */
export type SealKeySource = SealKey | (() => Promise<SealKey>)

/** Milliseconds after which fetching a key fails. */
const longestFetch = 30_000

/**
 * Pauses between attempts to fetch a key, in milliseconds. The second attempt
 * follows the first failure without a pause.
 */
const pauses = {
  shortest: 100,
  longest: 5_000,
}

/**
 * Salt of the derivation. A merchant may derive other keys from the same bytes;
 * this text keeps the seal keys different from them.
 */
const purpose = 'countersign seal'

/** Key names are stored unencrypted beside the sealed text. */
export const keyName: RegExp = /^[\w.:/@-]{1,128}$/

/**
 * Returns the cipher keys by name. Checks keys that are given as bytes at once.
 * Fetches the others when they are first needed, and again after a failure.
 *
 * @throws {@link InvalidFieldError} when a name is not 1 to 128 letters, digits
 * or `_.:/@-`, or is `none`.
 * @throws {@link SealError} when a key does not have 32 bytes.
 */
export function keepKeys(
  sources: Readonly<Record<string, SealKeySource>>,
): Map<string, () => Promise<Uint8Array>> {
  if (typeof sources !== 'object' || !sources)
    throw new InvalidFieldError('keys', sources, 'an object of keys by name')
  return new Map(
    Object.entries(sources).map(([name, source]) => {
      if (!keyName.test(name) || name === noKey)
        throw new InvalidFieldError(
          'keys',
          shown(name),
          `named with 1 to 128 letters, digits or _.:/@-, and not ${noKey}`,
        )
      return [name, keepKey(name, source)]
    }),
  )
}

/**
 * Derives the key of the cipher from a merchant's key with HKDF-SHA256. The
 * cipher key differs for each key name, and from keys derived elsewhere, even
 * if the 32 bytes are the same.
 */
export async function deriveKey(
  key: Uint8Array,
  name: string,
): Promise<Uint8Array> {
  const encoder = new TextEncoder()
  const base = await crypto.subtle.importKey(
    'raw',
    key.slice(),
    'HKDF',
    false,
    ['deriveBits'],
  )
  const bits = await crypto.subtle.deriveBits(
    {
      name: 'HKDF',
      hash: 'SHA-256',
      salt: encoder.encode(purpose),
      info: encoder.encode(name),
    },
    base,
    256,
  )
  return new Uint8Array(bits)
}

/**
 * Returns a function that loads a key and caches it. After a failure, calls
 * fail until a pause is over; then the next call loads the key again.
 */
function keepKey(
  name: string,
  source: SealKeySource,
): () => Promise<Uint8Array> {
  const load =
    typeof source === 'function'
      ? () => fetchKey(name, source)
      : keepOwn(name, source)
  let loaded: Promise<Uint8Array> | undefined
  let failures = 0
  /**
   * Earliest time of the next attempt, in milliseconds of `performance.now()`.
   */
  let notBefore = 0
  return () => {
    // Fails without a request during the pause. Otherwise each order would send
    // one while the key service is down.
    if (!loaded && performance.now() < notBefore)
      return Promise.reject(missingKey(name))
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      const pause = failures === 0 ? 0 : growingPause(failures, pauses)
      failures++
      notBefore = performance.now() + pause
      throw error
    })
    return loaded
  }
}

function keepOwn(name: string, key: SealKey): () => Promise<Uint8Array> {
  checkKey(name, key)
  // Copies the bytes, because the caller may overwrite them with zeros later.
  const own = new Uint8Array(key)
  return () => deriveKey(own, name)
}

/**
 * Fetches a key from the function that the merchant gave. Replaces the errors
 * of this function, because they could contain a secret.
 */
async function fetchKey(
  name: string,
  fetch: () => Promise<SealKey>,
): Promise<Uint8Array> {
  const fail = () => {
    throw missingKey(name)
  }
  // Limits the time: a key service that never answers would otherwise stop all
  // captures.
  const fetching = inTime(Promise.resolve().then(fetch), longestFetch, fail)
  const key = await fetching.catch(fail)
  checkKey(name, key)
  return deriveKey(new Uint8Array(key), name)
}

function missingKey(name: string): StoreError {
  return new StoreError(`could not get the key ${name}`, true)
}

function checkKey(name: string, key: unknown): void {
  if (isBytes(key) && key.length === 32) return
  throw new SealError(
    `needs a key of 32 bytes as "${name}", got ${describeKey(key)}: make one with crypto.getRandomValues(new Uint8Array(32)), or with "openssl rand -hex 32" and Buffer.from(hex, 'hex')`,
    { key: name },
  )
}

/** Describes a wrong key for an error message, without its bytes. */
function describeKey(key: unknown): string {
  if (key === undefined || key === null) return String(key)
  if (isBytes(key)) return `${key.length} bytes`
  return typeof key === 'object' ? 'another object' : `a ${typeof key}`
}
