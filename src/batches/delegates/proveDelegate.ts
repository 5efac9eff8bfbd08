import { type Address, type Client, type Hex, keccak256 } from 'viem'
import {
  encodeBlock,
  parseBytes,
  parseQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { devChainIds } from '../../core/clock.js'
import { hashDomain } from '../../core/hashPayment.js'
import type { KnownCode, KnownDelegate } from '../../core/knownDelegates.js'
import { word } from '../../core/words.js'
import type { Delegation, TrustedDelegate } from './types.js'

/** At which chain and block the code is read. */
export type ReadAt = { chainId: number; block: 'latest' | bigint }

/**
 * Compares the code at an address with the known one of a delegate, and that of
 * its manager.
 */
export async function proveDelegate(
  client: Client,
  address: Address,
  expected: KnownDelegate | TrustedDelegate | undefined,
  at: ReadAt,
): Promise<Delegation> {
  const code = await getCode(client, address, at)
  const codeHash = code === '0x' ? undefined : keccak256(code)
  if (!expected || !codeHash || !provesCode(code, expected, at.chainId))
    return { status: 'unknown', address, codeHash }
  if (!('name' in expected))
    return {
      status: 'known',
      name: 'trusted',
      version: undefined,
      address,
      codeHash,
      manager: undefined,
    }
  const { name, version } = expected
  const manager = await getManager(client, expected.manager, at)
  if (manager === 'unproven') return { status: 'unknown', address, codeHash }
  return { status: 'known', name, version, address, codeHash, manager }
}

type Manager = Extract<Delegation, { status: 'known' }>['manager']

async function getManager(
  client: Client,
  expected: KnownCode | undefined,
  at: ReadAt,
): Promise<Manager | 'unproven'> {
  if (!expected) return undefined
  const { address } = expected
  const code = await getCode(client, address, at)
  if (!provesCode(code, expected, at.chainId)) return 'unproven'
  const ask = async (data: Hex): Promise<bigint> => {
    const params = [{ to: address, data }, encodeBlock(at.block)]
    const answer = await requestNode(client, 'eth_call', params)
    return parseQuantity(answer, 'eth_call')
  }
  // `owner()` and `paused()`
  const [owner, paused] = await Promise.all([
    ask('0x8da5cb5b'),
    ask('0x5c975abb'),
  ])
  return { address, owner: `0x${word(owner).slice(24)}`, paused: paused !== 0n }
}

/** Gets the code of an account in lower case. */
export async function getCode(
  client: Client,
  address: Address,
  { block }: ReadAt,
): Promise<Hex> {
  const method = 'eth_getCode'
  const answer = await requestNode(client, method, [
    address,
    encodeBlock(block),
  ])
  return parseBytes(answer, method).toLowerCase() as Hex
}

/**
 * True when code is the known one. If its constructor wrote the chain's domain
 * into it, first checks these words, then hashes the code without them. On
 * development chains they may be those of the chain that was forked.
 */
export function provesCode(
  code: Hex,
  { address, codeHash, domain, isStandIn }: Omit<KnownCode, never>,
  chainId: number,
): boolean {
  const isDevelopment = devChainIds.includes(chainId)
  if (isStandIn && !isDevelopment) return false
  if (!domain) return keccak256(code) === codeHash
  const { name, chainIdAt, separatorAt } = domain
  const found = Number(`0x${wordAt(code, chainIdAt) || 0}`)
  const written = {
    name,
    version: '1',
    chainId: isDevelopment ? found : chainId,
    verifyingContract: address,
  }
  const fits =
    found === written.chainId &&
    Number.isSafeInteger(found) &&
    `0x${wordAt(code, separatorAt)}` === hashDomain(written)
  return (
    fits &&
    keccak256(clearWord(clearWord(code, chainIdAt), separatorAt)) === codeHash
  )
}

const wordAt = (code: Hex, at: number): string =>
  code.slice(2 + at * 2, 66 + at * 2)

const clearWord = (code: Hex, at: number): Hex =>
  `${code.slice(0, 2 + at * 2)}${word(0)}${code.slice(66 + at * 2)}` as Hex
