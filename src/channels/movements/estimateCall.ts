import type { Address, Client } from 'viem'
import { isTemporary } from '../../chain/rpc/classifyFailure.js'
import { NodeError } from '../../chain/rpc/errors.js'
import { parseQuantity, tryRequest } from '../../chain/rpc/requestNode.js'
import type { ChannelCall } from '../contract/types.js'
import type { Refusal } from './channelRefusal.js'

/**
 * Units of gas that a call may need. With the quarter that is added, this is
 * below the most that a transaction can have (EIP-7825).
 */
const mostGas = 13_000_000n

type Estimated =
  | { ok: true; call: ChannelCall; gas: bigint }
  | { ok: false; refusal: Refusal }

/**
 * Simulates a call as the account that would send it, and returns its gas
 * limit.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function estimateCall(
  client: Client,
  account: Address,
  call: ChannelCall,
): Promise<Estimated> {
  const method = 'eth_estimateGas'
  const asked = await tryCall(client, method, [{ from: account, ...call }])
  if ('refusal' in asked) return { ok: false, refusal: asked.refusal }
  const used = parseQuantity(asked.result, method)
  if (used > mostGas) return { ok: false, refusal: { words: 'out of gas' } }
  return { ok: true, call, gas: (used * 5n) / 4n }
}

/**
 * Runs a call in the node. Returns what it says if the call reverts.
 *
 * @throws {@link NodeError} when the node does not answer. The error names no
 * argument: these contain signatures.
 */
export async function tryCall(
  client: Client,
  method: 'eth_call' | 'eth_estimateGas',
  parameters: readonly unknown[],
): Promise<{ result: unknown } | { refusal: Refusal }> {
  const { result, failure } = await tryRequest(client, method, parameters)
  if (!failure) return { result }
  const isRevert = /revert|evm|gas|opcode/i.test(failure.words)
  if (isTemporary(failure) && !isRevert)
    throw new NodeError({ method, failure })
  const { data, words } = failure
  return { refusal: { data, words } }
}
