import { InvalidFieldError } from '../core/errors.js'
import { inTime } from '../core/inTime.js'
import { SealError, StoreError } from './errors.js'

/** 32 bytes, or a key of Web Crypto for AES-KW with 256 bits. */
export type SealKey = Uint8Array | CryptoKey

/** A key, or how to fetch it from where keys are kept. */
export type SealKeySource = SealKey | (() => Promise<SealKey>)

/** Milliseconds after which a key that was asked for is asked for again. */
const longestFetch = 30_000

/** Names stand in the open beside what is sealed. */
export const keyName: RegExp = /^[\w.:/@-]{1,128}$/

/**
 * The keys by name, checked now where they are there; others are asked for
 * once, when they are needed, and again after a failure.
 *
 * @throws {@link InvalidFieldError} when a name is not short and plain.
 * @throws {@link SealError} when a key is not of 256 bits.
 */
export function keepKeys(
  sources: Readonly<Record<string, SealKeySource>>,
): Map<string, () => Promise<CryptoKey>> {
  if (typeof sources !== 'object' || !sources)
    throw new InvalidFieldError('keys', 'this', 'an object of keys by name')
  return new Map(
    Object.entries(sources).map(([name, source]) => {
      if (!keyName.test(name))
        throw new InvalidFieldError('keys', name, `named like ${keyName}`)
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
  const fail = (): never => {
    throw new StoreError(`could not get the key ${name}`, true)
  }
  const fetching = Promise.resolve().then(fetch)
  // A call that never ends would hold up its submitter for good.
  const key = await inTime(fetching, longestFetch, fail).catch(fail)
  checkKey(name, key)
  return importKey(key)
}

function checkKey(name: string, key: SealKey): void {
  if (key instanceof Uint8Array ? key.length === 32 : isWrappingKey(key)) return
  throw new SealError(`needs 256 bits for AES-KW as the key ${name}`, {
    key: name,
  })
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
