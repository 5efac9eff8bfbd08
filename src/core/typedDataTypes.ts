import type { Hex } from 'viem'
import { hashText } from './hashText.js'

/** The EIP-712 types of EIP-3009's three messages, the domain included. */
export const typedDataTypes = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  ReceiveWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const encodings = {
  EIP712Domain:
    'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
  ReceiveWithAuthorization:
    'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  TransferWithAuthorization:
    'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  CancelAuthorization: 'CancelAuthorization(address authorizer,bytes32 nonce)',
}

const hashes = /* @__PURE__ */ new Map<string, Hex>()

/**
 * The hash of the encoding of a type (EIP-712, `typeHash`). Computed when first
 * needed: in a new process, a hash takes milliseconds that an import need not.
 */
export function typeHash(type: keyof typeof typedDataTypes): Hex {
  const hash = hashes.get(type) ?? hashText(encodings[type])
  hashes.set(type, hash)
  return hash
}
