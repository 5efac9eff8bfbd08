import type { StoreReader } from '../../store/types.js'
import { nextBump } from './inFlight.js'
import type { SubmitterState } from './submitterState.js'

/**
 * Loads, for each account nonce, the `bump` of the next transaction: the number
 * of earlier ones at the nonce, closed ones included. Keeps the order of
 * `nonces`.
 */
export async function loadBumps(
  tables: StoreReader,
  { wallet: { submitter: at } }: Pick<SubmitterState, 'wallet'>,
  nonces: readonly number[],
): Promise<number[]> {
  const bumps: number[] = []
  for (const nonce of nonces)
    bumps.push(nextBump(await tables.transactions.find({ at, nonce })))
  return bumps
}
