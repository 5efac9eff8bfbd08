import {
  bytesToHex,
  getAddress,
  type Hex,
  hashTypedData,
  hexToBytes,
  type PrivateKeyAccount,
  type SerializeTransactionFn,
  type SignedAuthorization,
  serializeTransaction,
  type TransactionSerializable,
  toPrefixedMessage,
} from 'viem'
import { hashAuthorization } from 'viem/utils'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseBytes32 } from '../core/fields.js'
import {
  addressOf,
  joinSignature,
  type SignatureParts,
  signHash,
  type Tools,
} from './signature.js'

export function createFastAccount(
  tools: Tools,
  privateKey: Hex,
): PrivateKeyAccount {
  const { key, publicKey } = parsePrivateKey(tools, privateKey)
  const { keccak256 } = tools
  const sign = (hash: Uint8Array) => signHash(tools, hash, key)
  return {
    address: getAddress(addressOf(publicKey, keccak256)),
    publicKey: bytesToHex(publicKey),
    source: 'privateKey',
    type: 'local',
    nonceManager: undefined,
    async sign({ hash }) {
      return joinSignature(sign(hexToBytes(parseBytes32(hash, 'hash'))))
    },
    async signAuthorization(request): Promise<SignedAuthorization> {
      const { chainId, nonce } = request
      const address = request.contractAddress ?? request.address
      const hash = hashAuthorization({ address, chainId, nonce, to: 'bytes' })
      return { address, chainId, nonce, ...sign(hash) }
    },
    async signMessage({ message }) {
      const prefixed = hexToBytes(toPrefixedMessage(message))
      return joinSignature(sign(keccak256(prefixed)))
    },
    async signTypedData(typedData) {
      return joinSignature(sign(hexToBytes(hashTypedData(typedData))))
    },
    async signTransaction(transaction, { serializer } = {}) {
      return signBy(transaction, serializer ?? serializeTransaction, (bytes) =>
        sign(keccak256(bytes)),
      )
    },
  }
}

/**
 * Serializes a transaction, signs its hash, and serializes it again with the
 * signature.
 */
async function signBy(
  transaction: TransactionSerializable,
  serialize: SerializeTransactionFn<TransactionSerializable>,
  sign: (bytes: Uint8Array) => SignatureParts,
): Promise<Hex> {
  // Leaves out the blobs, because the signature covers only their hashes
  // (EIP-4844).
  const signable =
    transaction.type === 'eip4844'
      ? { ...transaction, sidecars: false as const }
      : transaction
  const signature = sign(hexToBytes(await serialize(signable)))
  return serialize(transaction, signature)
}

/** Parses a private key. Its errors never contain any part of the key. */
function parsePrivateKey(
  { curve }: Tools,
  privateKey: unknown,
): { key: Uint8Array; publicKey: Uint8Array } {
  if (typeof privateKey !== 'string')
    throw invalidKey(`a value of the type ${typeof privateKey}`)
  if (!/^0x[\da-f]{64}$/i.test(privateKey))
    throw invalidKey(`a string of ${privateKey.length} characters`)
  const key = hexToBytes(privateKey as Hex)
  try {
    return { key, publicKey: curve.getPublicKey(key) }
  } catch {
    throw new InvalidFieldError(
      'privateKey',
      shown('a key that is zero or too large'),
      'the 32 bytes of a private key, above zero and below the order of secp256k1',
    )
  }
}

function invalidKey(found: string): InvalidFieldError {
  const expected = 'the 32 bytes of a private key, 0x and 64 hex digits'
  return new InvalidFieldError('privateKey', shown(found), expected)
}
