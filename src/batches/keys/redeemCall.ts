import type { Address, Hex } from 'viem'
import { metamaskDelegate } from '../../core/knownDelegates.js'
import { bytesWords, word } from '../../core/words.js'

/** `redeemDelegations(bytes[],bytes32[],bytes[])` */
export const redeemSelector = 'cef6d209'

/**
 * Returns the gas limit of what a capture through a permission needs besides the
 * capture itself, with a quarter for changes of the state. Measured: 114,600;
 * 22,200 more with an end, and 1,500 for each further token.
 */
export function redeemGas({
  tokens,
  validBefore,
}: {
  tokens: readonly Address[]
  validBefore: bigint | undefined
}): bigint {
  const forEnd = validBefore === undefined ? 0n : 28_000n
  return 144_000n + forEnd + 2_000n * BigInt(tokens.length - 1)
}

/**
 * Encodes a call that the holder of a signed delegation makes in the name of the
 * treasury. It reverts if the treasury's call does.
 */
export function redeemCall(
  delegation: Hex,
  { to, data }: { to: Address; data: Hex },
): { to: Address; data: Hex } {
  const delegations = listOf(delegation)
  const plainMode = word(1) + word(0)
  const noValue = word(0)
  const calls = listOf(`${to}${noValue}${data.slice(2)}`)
  const modesAt = 96 + delegations.length / 2
  const offsets =
    word(96) + word(modesAt) + word(modesAt + plainMode.length / 2)
  return {
    to: metamaskDelegate.manager.address,
    data: `0x${redeemSelector}${offsets}${delegations}${plainMode}${calls}`,
  }
}

/** Encodes `bytes[]` with one member. */
const listOf = (bytes: string): string => word(1) + word(32) + bytesWords(bytes)
