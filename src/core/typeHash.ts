import type { Hex } from 'viem'
import { hashText } from './hashText.js'
import type { typedDataTypes } from './typedDataTypes.js'

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
 * Returns the hash of a type's definition (EIP-712, `typeHash`). Computes it at
 * first use, because the first hash in a process takes milliseconds.
 */
export function typeHash(type: keyof typeof typedDataTypes): Hex {
  const hash = hashes.get(type) ?? hashText(encodings[type])
  hashes.set(type, hash)
  return hash
}
