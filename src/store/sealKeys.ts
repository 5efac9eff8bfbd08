import { InvalidFieldError } from '../core/errors.js'
import { inTime } from '../core/wait.js'
import { SealError, StoreError } from './errors.js'

/** 32 bytes, or a 256-bit AES-KW key of Web Crypto. */
export type SealKey = Uint8Array | CryptoKey

/** A key, or a function that fetches it, for example from a key service. */
export type SealKeySource = SealKey | (() => Promise<SealKey>)

/** Milliseconds after which fetching a key fails. */
const longestFetch = 30_000

/** Key names are stored unencrypted beside the sealed text. */
export const keyName: RegExp = /^[\w.:/@-]{1,128}$/

/**
 * Returns the keys by name. Checks given keys at once. Fetches other keys when
 * they are first needed, and again after a failure.
 *
 * @throws {@link InvalidFieldError} when a name is not 1 to 128 letters, digits
 * or `_.:/@-`.
 * @throws {@link SealError} when a key does not have 256 bits.
 */
export function keepKeys(
  sources: Readonly<Record<string, SealKeySource>>,
): Map<string, () => Promise<CryptoKey>> {
  if (typeof sources !== 'object' || !sources)
    // Shows only the type: the value may be a key.
    throw new InvalidFieldError(
      'keys',
      sources === undefined ? undefined : typeof sources,
      'an object of keys by name',
    )
  return new Map(
    Object.entries(sources).map(([name, source]) => {
      if (!keyName.test(name))
        throw new InvalidFieldError(
          'keys',
          name,
          'named with 1 to 128 letters, digits or _.:/@-',
        )
      return [name, keepKey(name, source)]
    }),
  )
}

function keepKey(
  name: string,
  source: SealKeySource,
): () => Promise<CryptoKey> {
  const load =
    typeof source === 'function'
      ? () => fetchKey(name, source)
      : keepOwn(name, source)
  let loaded: Promise<CryptoKey> | undefined
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
}

function keepOwn(name: string, key: SealKey): () => Promise<CryptoKey> {
  checkKey(name, key)
  // The caller may wipe these bytes.
  const own = key instanceof Uint8Array ? key.slice() : key
  return () => importKey(own)
}

/** Reports nothing of what the function throws: it could contain a secret. */
async function fetchKey(
  name: string,
  fetch: () => Promise<SealKey>,
): Promise<CryptoKey> {
  const fail = () => {
    throw new StoreError(`could not get the key ${name}`, true)
  }
  // A key service that never answers would hold up its submitter for good.
  const fetching = inTime(Promise.resolve().then(fetch), longestFetch, fail)
  const key = await fetching.catch(fail)
  checkKey(name, key)
  return importKey(key)
}

function checkKey(name: string, key: SealKey): void {
  if (key instanceof Uint8Array ? key.length === 32 : isWrappingKey(key)) return
  throw new SealError(
    `needs another key "${name}": pass 32 bytes or a 256-bit AES-KW key of Web Crypto, got ${describeKey(key)}`,
    { key: name },
  )
}

/** Never shows the key. */
function describeKey(key: unknown): string {
  if (key === undefined || key === null) return String(key)
  if (key instanceof Uint8Array) return `${key.length} bytes`
  return typeof key === 'object' ? 'another object' : `a ${typeof key}`
}

function isWrappingKey(key: unknown): boolean {
  const { algorithm, usages } = Object(key)
  return (
    algorithm?.name === 'AES-KW' &&
    algorithm.length === 256 &&
    usages.includes('wrapKey') &&
    usages.includes('unwrapKey')
  )
}

async function importKey(key: SealKey): Promise<CryptoKey> {
  if (!(key instanceof Uint8Array)) return key
  const usages = ['wrapKey', 'unwrapKey'] as const
  return crypto.subtle.importKey('raw', key.slice(), 'AES-KW', false, usages)
}
