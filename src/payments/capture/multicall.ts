import type { Address, Client, Hex } from 'viem'
import { parseBytes, requestNode } from '../../chain/rpc/requestNode.js'
import { hashHex, viemKeccak256 } from '../../core/keccak.js'
import type { EncodedCall } from '../message/encodeCall.js'

/** Multicall3, at the same address on nearly every chain. */
export const multicallAddress: Address =
  '0xca11bde05977b3631167028862be2a173976ca11'

/** Hash of the code of Multicall3. */
const codeHash =
  '0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891'

const known = /* @__PURE__ */ new WeakMap<object, Promise<boolean>>()

/**
 * True if the chain has Multicall3, proven by the hash of its code. Asks once
 * for each client.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export function hasMulticall(client: Client): Promise<boolean> {
  const asked = known.get(client) ?? askMulticall(client)
  known.set(client, asked)
  asked.catch(() => known.delete(client))
  return asked
}

async function askMulticall(client: Client): Promise<boolean> {
  const method = 'eth_getCode'
  const code = await requestNode(client, method, [multicallAddress, 'latest'])
  return hashHex(parseBytes(code, method), viemKeccak256) === codeHash
}

/**
 * Encodes `aggregate3` of Multicall3: calls of which each may fail without the
 * others.
 */
export function encodeMulticall(
  calls: readonly Pick<EncodedCall<unknown>, 'to' | 'data'>[],
): Hex {
  const tails = calls.map(({ to, data }) => {
    const bytes = data.slice(2)
    const length = bytes.length / 2
    const padded = bytes.padEnd(Math.ceil(length / 32) * 64, '0')
    return wordOf(BigInt(to)) + wordOf(1) + wordOf(96) + wordOf(length) + padded
  })
  let offset = calls.length * 32
  const heads = tails.map((tail) => {
    const head = wordOf(offset)
    offset += tail.length / 2
    return head
  })
  const parts = [wordOf(32), wordOf(calls.length), ...heads, ...tails]
  return `0x82ad56cb${parts.join('')}`
}

const wordOf = (value: number | bigint): string =>
  value.toString(16).padStart(64, '0')
