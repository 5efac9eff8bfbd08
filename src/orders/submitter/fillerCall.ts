import type { Address, Hex } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import type { SubmitterState } from './submitterState.js'

/** Gas of a transfer to an account without code, where no layer adds to it. */
const plainGas = 21_000n

/** A payment of nothing to oneself, which uses up a nonce and does no more. */
export async function fillerCall({ reader, wallet }: SubmitterState): Promise<{
  call: { to: Address; data: Hex }
  gas: bigint
}> {
  const { account: to } = wallet.submitter
  const { result } = await tryRequest(reader, 'eth_estimateGas', [
    { from: to, to, value: '0x0' },
  ])
  const estimate = /^0x[\da-f]{1,16}$/i.test(String(result))
    ? BigInt(String(result))
    : plainGas
  // Rollups add what their first layer takes, and an account may have code.
  const gas = estimate > plainGas ? (estimate * 5n) / 4n : plainGas
  return { call: { to, data: '0x' }, gas }
}
