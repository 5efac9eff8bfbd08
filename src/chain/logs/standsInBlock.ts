import type { Hash } from 'viem'
import { same, zeroHash } from '../../core/receiptProof.js'

/** The block that a receipt or a log names. */
export type NamedBlock = {
  blockNumber: bigint
  blockHash: Hash | null | undefined
}

/** A block of the chain, as far as it is known. */
export type SealedBlock = {
  /** Absent for the block with the number that is asked about. */
  number?: bigint | undefined
  hash?: Hash | undefined
}

/** True unless the hash is missing or zero, as in a block that is being built. */
export function namesBlock(blockHash: unknown): blockHash is Hash {
  return blockHash != null && blockHash !== zeroHash
}

/**
 * True when a receipt or log stands in a block of the chain. Otherwise it is
 * only pre-confirmed. A block hash alone does not show it: some nodes invent one
 * for the block that is being built.
 *
 * @param block the block of the chain with the same number, or the newest block
 * if no other is known. Absent if the chain has no block with this number.
 */
export function standsInBlock(
  { blockNumber, blockHash }: NamedBlock,
  block: SealedBlock | undefined,
): boolean {
  if (!block || !namesBlock(blockHash)) return false
  const { number = blockNumber, hash = blockHash } = block
  if (number !== blockNumber) return number > blockNumber
  return same(hash, blockHash)
}
