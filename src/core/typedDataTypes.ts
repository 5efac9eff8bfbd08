import type { Hex } from 'viem'
import { hashText } from './hashText.js'
import type { PrimaryType } from './types.js'

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

/** The hash of the encoding of `EIP712Domain` (EIP-712). */
export const domainTypeHash: Hex = /* @__PURE__ */ hashText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)

/** The hash of the encoding of each message type (EIP-3009). */
export const typeHashes: Record<PrimaryType | 'CancelAuthorization', Hex> = {
  ReceiveWithAuthorization: /* @__PURE__ */ hashText(
    'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  ),
  TransferWithAuthorization: /* @__PURE__ */ hashText(
    'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  ),
  CancelAuthorization: /* @__PURE__ */ hashText(
    'CancelAuthorization(address authorizer,bytes32 nonce)',
  ),
}
