import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { hashDomain } from '../../core/hashPayment.js'
import { hashText } from '../../core/hashText.js'
import { type Keccak256, viemKeccak256 } from '../../core/keccak.js'
import { channelDomain } from './channelDomain.js'

const encodings = {
  ChannelConfig:
    'ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)',
  Voucher: 'Voucher(bytes32 channelId,uint128 maxClaimableAmount)',
  Refund: 'Refund(bytes32 channelId,uint256 nonce,uint128 amount)',
  ClaimEntry:
    'ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)',
  ClaimBatch:
    'ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)',
}

export type ChannelType = keyof typeof encodings

const typeHashes = /* @__PURE__ */ new Map<ChannelType, Hex>()

/** Returns the hash of a type's definition; computes it at first use. */
function channelTypeHash(type: ChannelType): Hex {
  const hash = typeHashes.get(type) ?? hashText(encodings[type])
  typeHashes.set(type, hash)
  return hash
}

const separators = /* @__PURE__ */ new Map<number, Uint8Array>()

/**
 * Returns the domain separator of the contract on a chain, from a cache: each
 * request of a channel hashes twice in one domain.
 */
function separatorOf(chainId: number): Uint8Array {
  const known = separators.get(chainId)
  if (known) return known
  const separator = hexToBytes(hashDomain(channelDomain(chainId)))
  if (separators.size >= 100) separators.clear()
  separators.set(chainId, separator)
  return separator
}

/**
 * Returns the struct hash of a message (EIP-712, `hashStruct`), given its
 * members as ABI words.
 */
export function structHash(
  type: ChannelType,
  words: string,
  keccak256: Keccak256 = viemKeccak256,
): Uint8Array {
  return keccak256(hexToBytes(`${channelTypeHash(type)}${words}`))
}

/** Returns the digest that a signer of the contract's typed data signs. */
export function channelDigest(
  chainId: number,
  struct: Uint8Array,
  keccak256: Keccak256 = viemKeccak256,
): Hex {
  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(separatorOf(chainId), 2)
  envelope.set(struct, 34)
  return bytesToHex(keccak256(envelope))
}
