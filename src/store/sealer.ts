import { base64url, FlattenedEncrypt, flattenedDecrypt } from 'jose'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { SealError } from './errors.js'
import { keepKeys, keyName, type SealKeySource } from './sealKeys.js'
import type { SealContext, Sealer } from './types.js'

/** What {@link sealer} takes. */
export type SealerParameters = {
  /** Keys by name. Never use a name again for another key. */
  keys: Readonly<Record<string, SealKeySource>>
  /** Name of the key that seals. Every key opens what it sealed. */
  current: string
}

const members: MembersOf<SealerParameters> = {
  keys: true,
  current: true,
}

const alg = 'A256KW'
const enc = 'A256GCM'
const memberNames = 'aad,ciphertext,encrypted_key,iv,protected,tag'

/**
 * Encrypts signatures and raw transactions as flattened JWE, each with its own
 * content key, and binds each to its payment.
 *
 * Protects the secrets in a stolen database. Does not protect them from an
 * attacker inside the process.
 *
 * @throws {@link InvalidFieldError} when `current` is not the name of a key,
 * or a name is not 1 to 128 letters, digits or `_.:/@-`.
 * @throws {@link SealError} when a key does not have 256 bits.
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
  checkMembers(parameters, members)
  const { keys, current } = Object(parameters) as SealerParameters
  const kept = keepKeys(keys)
  const getCurrent = kept.get(current)
  if (!getCurrent)
    throw new InvalidFieldError('current', current, 'the name of a key')

  return {
    seal: async (secret, context) => {
      const key = await getCurrent()
      const jwe = await new FlattenedEncrypt(new TextEncoder().encode(secret))
        .setProtectedHeader({ alg, enc, kid: current })
        .setAdditionalAuthenticatedData(describePlace(context))
        .encrypt(key)
        .catch(() => {
          throw new SealError('cannot be sealed', { key: current })
        })
      return JSON.stringify(jwe)
    },
    open: async (sealed, context) => {
      const { jwe, name } = parseJwe(sealed)
      if (jwe.aad !== base64url.encode(describePlace(context)))
        throw new SealError('was sealed for something else')
      const key = await kept.get(name)?.()
      if (!key)
        throw new SealError(`needs the unknown key ${name}`, { key: name })
      const { plaintext } = await flattenedDecrypt(jwe, key, {
        keyManagementAlgorithms: [alg],
        contentEncryptionAlgorithms: [enc],
      }).catch(() => {
        throw new SealError('or its key was changed', { key: name })
      })
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(plaintext)
    },
  }
}

/** Encodes a context as additional data. Equal contexts give equal bytes. */
function describePlace(context: SealContext): Uint8Array {
  const { kind, orderId, attempt, chainId } = context
  const token = context.token.toLowerCase()
  const payer = context.payer.toLowerCase()
  const nonce = context.nonce.toLowerCase()
  const { accountNonce, action } = context
  const account = context.account?.toLowerCase()
  // The order of the members must not change. JSON omits undefined members.
  const place = {
    kind,
    orderId,
    attempt,
    chainId,
    token,
    payer,
    nonce,
    account,
    accountNonce,
    action,
  }
  return new TextEncoder().encode(JSON.stringify(place))
}

/** Accepts exactly the members that `seal` writes, and no others. */
function parseJwe(sealed: string): {
  jwe: { ciphertext: string; aad?: string }
  name: string
} {
  try {
    const jwe = JSON.parse(sealed)
    const header = base64url.decode(jwe.protected)
    const { kid } = JSON.parse(new TextDecoder().decode(header))
    const isWhole = Object.keys(jwe).sort().join() === memberNames
    if (isWhole && typeof kid === 'string' && keyName.test(kid))
      return { jwe, name: kid }
  } catch {
    // The message of a parser would quote the text.
  }
  throw new SealError('is not sealed with keys')
}
