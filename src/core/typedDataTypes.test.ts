import { TypedDataEncoder } from 'ethers'
import { keccak256, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import { typedDataTypes } from './typedDataTypes.js'
import { typeHash } from './typeHash.js'

const encodings = {
  EIP712Domain:
    'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
  ReceiveWithAuthorization:
    'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  TransferWithAuthorization:
    'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
  CancelAuthorization: 'CancelAuthorization(address authorizer,bytes32 nonce)',
}

test('every type hash is the hash of its encoding', () => {
  for (const [name, encoding] of Object.entries(encodings))
    expect(typeHash(name as keyof typeof encodings)).toBe(
      keccak256(stringToHex(encoding)),
    )
})

test.each(Object.entries(typedDataTypes))(
  'the members of %s are in the order that is hashed',
  (name, members) => {
    const encoder = TypedDataEncoder.from({ [name]: [...members] })
    expect(encoder.encodeType(name)).toBe(
      encodings[name as keyof typeof encodings],
    )
  },
)
