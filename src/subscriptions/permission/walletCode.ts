import {
  type Address,
  type Client,
  decodeAbiParameters,
  decodeFunctionData,
  type Hex,
} from 'viem'
import {
  type BlockSelector,
  encodeBlock,
  parseBytes,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { isWrappedSignature } from '../../core/signature.js'

/** Runtime code of the proxies that Base Account's factories deploy. */
const proxyCode =
  '0x363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3'

/** Slot of a proxy's implementation (ERC-1967). */
const implementationSlot =
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

/**
 * The contract through which the manager's validator deploys wallets. Without
 * this contract, the validator refuses wrapped signatures (ERC-6492).
 */
export const verifier: Address = '0x0000bc370e4dc924f427d84e2f4b9ec81626ba7e'

/** Implementations of Base Account's wallet: versions 1 and 1.1. */
export const baseImplementations: readonly Address[] = [
  '0x000100abaad02f1cfc8bbe32bd5a564817339e72',
  '0x00000110dcdedc9581cb5ecb8467282f2926534d',
]

/** Factories of Base Account's wallet: versions 1 and 1.1. */
export const baseFactories: readonly Address[] = [
  '0x0ba5ed0c6aa8c49038f819e587e2633c4a9f428a',
  '0xba5ed110efdba3d005bfc882d75358acbbb85842',
]

/** What code an account has: none, Base's wallet proxy, or other code. */
export type WalletCode =
  | { kind: 'none' }
  | { kind: 'proxy'; implementation: Address }
  | { kind: 'unknown' }

/**
 * Gets the implementation of a wallet from its code and storage. The code must
 * be that of Base's proxy. Asking the wallet itself would be unsafe: another
 * contract could name a known implementation and run other code.
 */
export async function getWalletCode(
  client: Client,
  account: Address,
  block: BlockSelector,
): Promise<WalletCode> {
  const at = encodeBlock(block)
  const [code, slot] = await Promise.all([
    requestNode(client, 'eth_getCode', [account, at]),
    requestNode(client, 'eth_getStorageAt', [account, implementationSlot, at]),
  ])
  const bytes = parseBytes(code, 'eth_getCode').toLowerCase()
  if (bytes === '0x') return { kind: 'none' }
  if (bytes !== proxyCode) return { kind: 'unknown' }
  const word = parseBytes(slot, 'eth_getStorageAt').slice(2)
  const implementation = `0x${word.slice(-40).toLowerCase()}` as const
  return { kind: 'proxy', implementation }
}

const factoryAbi = [
  {
    type: 'function',
    name: 'createAccount',
    stateMutability: 'payable',
    inputs: [
      { name: 'owners', type: 'bytes[]' },
      { name: 'nonce', type: 'uint256' },
    ],
    outputs: [{ name: 'account', type: 'address' }],
  },
  {
    type: 'function',
    name: 'getAddress',
    stateMutability: 'view',
    inputs: [
      { name: 'owners', type: 'bytes[]' },
      { name: 'nonce', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'address' }],
  },
] as const

/** The deployment of a wallet that a wrapped signature (ERC-6492) asks for. */
export type Deployment = {
  factory: Address
  /** Owners and nonce, ABI-encoded, without `0x`. */
  arguments: string
}

/**
 * Parses the deployment in a wrapped signature (ERC-6492). Returns `undefined`
 * if the signature wraps any other call, because the manager's validator would
 * make that call.
 */
export function parseDeployment(signature: Hex): Deployment | undefined {
  if (!isWrappedSignature(signature)) return undefined
  try {
    const [factory, data] = decodeAbiParameters(
      [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
      `0x${signature.slice(2, -64)}`,
    )
    const { functionName } = decodeFunctionData({ abi: factoryAbi, data })
    return functionName === 'createAccount'
      ? {
          factory: factory.toLowerCase() as Address,
          arguments: data.slice(10),
        }
      : undefined
  } catch {
    return undefined
  }
}

/** Selector of `getAddress(bytes[],uint256)`. */
export const getAddressSelector = '250b1b41'

/** Selector of `isOwnerAddress(address)`. */
export const isOwnerSelector = 'a2e1a8d8'
