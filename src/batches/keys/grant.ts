import { type Address, type Hex, keccak256, recoverAddress } from 'viem'
import { hashDomain } from '../../core/hashPayment.js'
import { hashText } from '../../core/hashText.js'
import {
  enforcers,
  exactCallEnforcer,
  metamaskDelegate,
} from '../../core/knownDelegates.js'
import { bytesWords, word } from '../../core/words.js'
import type { SigningPayload } from '../../payments/message/paymentTypedData.js'

/**
 * A delegation to be signed: it lets one account make some calls in the name of
 * another, which is delegated to MetaMask's delegate.
 */
export type Grant = {
  chainId: number
  /** The account in whose name the calls are made. It signs. */
  treasury: Address
  /** The account that may make the calls. */
  key: Address
  /** The only contracts to call. */
  targets: readonly Address[]
  /** The only functions to call, as selectors without `0x`. */
  methods: readonly string[]
  /**
   * The only input of a call, in place of `methods`. `readGrant` does not know
   * it: permissions of capture keys have none.
   */
  input?: Hex | undefined
  /** The number of the treasury that `NonceEnforcer` compares. */
  nonce: bigint
  /** Unix seconds from which the delegation no longer works. */
  validBefore: bigint | undefined
  /** Makes two delegations of the same content differ. */
  salt: bigint
}

/** Stands for a delegation by the account itself, and not by a delegate. */
const root: Hex = /* @__PURE__ */ '0x'.padEnd(66, 'f') as Hex

type Caveat = { enforcer: Address; terms: Hex }

/**
 * Returns the limits of a delegation. Without them the key could do everything
 * that the treasury can, so every delegation is built and read here.
 */
function caveatsOf(grant: Grant): Caveat[] {
  const { targets, methods, input, nonce, validBefore } = grant
  const join = (parts: readonly string[]): Hex => `0x${parts.join('')}`
  const addresses = targets.map((target) => target.slice(2))
  const caveats: Caveat[] = [
    { enforcer: enforcers.targets.address, terms: join(addresses) },
    input === undefined
      ? { enforcer: enforcers.methods.address, terms: join(methods) }
      : { enforcer: exactCallEnforcer.address, terms: input },
    { enforcer: enforcers.nonce.address, terms: join([word(nonce)]) },
  ]
  if (validBefore === undefined) return caveats
  // Sixteen bytes each: valid after, which is left open, and valid before.
  const terms = join([word(validBefore)])
  return [...caveats, { enforcer: enforcers.timestamp.address, terms }]
}

const domainOf = ({ chainId }: Pick<Grant, 'chainId'>) => ({
  name: 'DelegationManager',
  version: '1',
  chainId,
  verifyingContract: metamaskDelegate.manager.address,
})

/** Returns what the treasury's wallet signs (EIP-712). */
export function grantTypedData(grant: Grant): SigningPayload {
  const field = (name: string, type: string) => ({ name, type })
  return {
    types: {
      EIP712Domain: [
        field('name', 'string'),
        field('version', 'string'),
        field('chainId', 'uint256'),
        field('verifyingContract', 'address'),
      ],
      Caveat: [field('enforcer', 'address'), field('terms', 'bytes')],
      Delegation: [
        field('delegate', 'address'),
        field('delegator', 'address'),
        field('authority', 'bytes32'),
        field('caveats', 'Caveat[]'),
        field('salt', 'uint256'),
      ],
    },
    primaryType: 'Delegation',
    domain: domainOf(grant),
    message: {
      delegate: grant.key,
      delegator: grant.treasury,
      authority: root,
      caveats: caveatsOf(grant),
      salt: grant.salt,
    },
  }
}

const caveatType = 'Caveat(address enforcer,bytes terms)'
const delegationType =
  'Delegation(address delegate,address delegator,bytes32 authority,Caveat[] caveats,uint256 salt)'

/** Returns the hash by which the manager knows a delegation. */
export function hashGrant(grant: Grant): Hex {
  const hash = (words: readonly (Hex | bigint)[]): Hex =>
    keccak256(`0x${words.map(word).join('')}`)
  const caveats = caveatsOf(grant).map(({ enforcer, terms }) =>
    hash([hashText(caveatType), enforcer, keccak256(terms)]),
  )
  const { key, treasury, salt } = grant
  const type = hashText(delegationType + caveatType)
  return hash([type, key, treasury, root, hash(caveats), salt])
}

/** True when the treasury itself signed the delegation, for this chain. */
export async function isSignedGrant(
  grant: Grant,
  signature: Hex,
): Promise<boolean> {
  const domain = hashDomain(domainOf(grant))
  const hash = keccak256(`0x1901${word(domain)}${word(hashGrant(grant))}`)
  try {
    const signer = await recoverAddress({ hash, signature })
    return signer.toLowerCase() === grant.treasury
  } catch {
    return false
  }
}

/**
 * Encodes a signed delegation as `Delegation[]` with one member: the permission
 * context of ERC-7715.
 */
export function encodeGrant(grant: Grant, signature: Hex): Hex {
  const noArgs = word(0)
  const items = caveatsOf(grant).map(({ enforcer, terms }) => {
    const bytes = bytesWords(terms)
    const argsAt = word(96 + bytes.length / 2)
    return word(enforcer) + word(96) + argsAt + bytes + noArgs
  })
  const caveats = word(items.length) + offsetsOf(items) + items.join('')
  const members = [
    word(grant.key),
    word(grant.treasury),
    word(root),
    word(192),
    word(grant.salt),
    word(192 + caveats.length / 2),
  ]
  const delegation = members.join('') + caveats + bytesWords(signature)
  return `0x${word(32)}${word(1)}${word(32)}${delegation}`
}

/** Returns the `Delegation` in an encoded list of one, without `0x`. */
export const delegationIn = (encoded: Hex): string => encoded.slice(194)

/** Encodes the offsets of items of various length. */
function offsetsOf(items: readonly string[]): string {
  let offset = items.length * 32
  return items
    .map((item) => {
      const at = word(offset)
      offset += item.length / 2
      return at
    })
    .join('')
}

/**
 * Reads a delegation from the places where {@link encodeGrant} writes its
 * members. What it reads from anything else is nonsense: compare the encoded
 * result.
 */
export function readGrant(
  encoded: Hex,
  chainId: number,
): { grant: Grant; signature: Hex } {
  const body = encoded.slice(2).toLowerCase()
  const bytesAt = (index: number, length: number) =>
    body.slice(index * 64, index * 64 + length * 2)
  const numberAt = (index: number) =>
    BigInt(`0x${/^[\da-f]+$/.exec(bytesAt(index, 32)) ?? 0}`)
  // A length or offset; cut, so that nonsense takes no time.
  const countAt = (index: number) => Number(numberAt(index) & 0xffffn)
  const addressAt = (index: number): Address =>
    `0x${bytesAt(index, 32).slice(24)}`
  const partsAt = (index: number, size: number) => {
    const text = bytesAt(index + 1, countAt(index))
    return text.match(new RegExp(`.{${size}}`, 'g')) ?? []
  }

  const caveats = countAt(9)
  const targets = 10 + caveats + 3
  const methods = targets + 5 + Math.ceil(countAt(targets) / 32)
  const nonce = methods + 5 + Math.ceil(countAt(methods) / 32)
  const timestamp = nonce + 6
  const signature = 3 + Math.ceil(countAt(8) / 32)
  return {
    grant: {
      chainId,
      key: addressAt(3),
      treasury: addressAt(4),
      targets: partsAt(targets, 40).map((part): Address => `0x${part}`),
      methods: partsAt(methods, 8),
      nonce: numberAt(nonce + 1),
      validBefore: caveats === 4 ? numberAt(timestamp + 1) : undefined,
      salt: numberAt(7),
    },
    signature: `0x${bytesAt(signature + 1, countAt(signature))}`,
  }
}
