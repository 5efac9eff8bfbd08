import { type Client, decodeFunctionResult } from 'viem'
import {
  encodeBlock,
  parseBytes,
  tryRequest,
} from '../../chain/rpc/requestNode.js'
import { stateCalls } from '../permission/getSpendPermission.js'
import { spendPermissionAbi as abi } from '../permission/spendPermissionAbi.js'
import type { ChargePayment } from './chargePayment.js'

/**
 * Returns false if the permission's last charge, in the manager's state, was in
 * an earlier period than that of this charge: then no search of the chain is
 * needed. Returns true otherwise, and if the node does not answer.
 */
export async function mayBeCharged(
  client: Client,
  { permission, message }: Pick<ChargePayment, 'permission' | 'message'>,
  block: bigint,
): Promise<boolean> {
  const { target, data } = stateCalls(permission).last
  const method = 'eth_call'
  const { result, failure } = await tryRequest(client, method, [
    { to: target, data: `0x${data}` },
    encodeBlock(block),
  ])
  if (failure) return true
  const answer = parseBytes(result, method)
  if (answer.length !== 2 + 3 * 64) return true
  const last = decodeFunctionResult({
    abi,
    functionName: 'getLastUpdatedPeriod',
    data: answer,
  })
  return BigInt(last.end) > message.validAfter + 1n
}
