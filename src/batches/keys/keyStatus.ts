import type { Address, Client, Hex } from 'viem'
import {
  encodeBlock,
  getBlockHead,
  parseQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { enforcers, metamaskDelegate } from '../../core/knownDelegates.js'
import { word } from '../../core/words.js'
import { delegateOf } from '../getDelegation.js'
import {
  getCode,
  proveDelegate,
  provesCode,
  type ReadAt,
} from '../proveDelegate.js'
import { proveOnce } from '../proveOnce.js'
import type { Permission } from './permission.js'
import type { CaptureKeyStatus } from './types.js'

const { manager } = metamaskDelegate

/**
 * Gets whether a permission works now.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getKeyStatus(
  client: Client,
  { chainId, treasury, hash, nonce, validBefore }: Permission,
): Promise<CaptureKeyStatus> {
  const at = { chainId, block: 'latest' } as const
  const [hasDelegate, isProven, paused, disabled, number, head] =
    await Promise.all([
      isDelegated(client, treasury, at),
      areProven(client, at),
      isPaused(client),
      isDisabled(client, hash),
      getNonce(client, treasury),
      validBefore === undefined ? undefined : getBlockHead(client, 'latest'),
    ])
  if (!hasDelegate) return 'undelegated'
  if (!isProven) return 'unproven'
  if (disabled || number !== nonce) return 'revoked'
  if (validBefore !== undefined && head && head.timestamp >= validBefore)
    return 'expired'
  return paused ? 'paused' : 'active'
}

/** True when a treasury is delegated to MetaMask's delegate. */
export async function isDelegated(
  client: Client,
  treasury: Address,
  at: ReadAt,
): Promise<boolean> {
  const code = await getCode(client, treasury, at)
  return delegateOf(code) === metamaskDelegate.address
}

/**
 * True when the contracts on which a permission relies have the known code.
 * Reads each once for each client.
 */
export async function areProven(client: Client, at: ReadAt): Promise<boolean> {
  const { address } = metamaskDelegate
  const proofs = [
    proveOnce(client, address, async () => {
      const found = await proveDelegate(client, address, metamaskDelegate, at)
      return found.status === 'known'
    }),
    ...Object.values(enforcers).map((known) =>
      proveOnce(client, known.address, async () =>
        provesCode(await getCode(client, known.address, at), known, at.chainId),
      ),
    ),
  ]
  return (await Promise.all(proofs)).every(Boolean)
}

export const isPaused = async (client: Client): Promise<boolean> =>
  (await ask(client, manager.address, ['5c975abb'])) !== 0n

/** True when the treasury has ended the delegation with this hash. */
export const isDisabled = async (
  client: Client,
  hash: Hex,
  block: ReadAt['block'] = 'latest',
): Promise<boolean> =>
  (await ask(client, manager.address, ['2d40d052', word(hash)], block)) !== 0n

/** Gets the number that permissions of a treasury must name. */
export const getNonce = (
  client: Client,
  treasury: Address,
  block: ReadAt['block'] = 'latest',
): Promise<bigint> => {
  const parts = ['2bd4ed21', word(manager.address), word(treasury)]
  return ask(client, enforcers.nonce.address, parts, block)
}

async function ask(
  client: Client,
  to: Address,
  parts: readonly string[],
  block: ReadAt['block'] = 'latest',
): Promise<bigint> {
  const method = 'eth_call'
  const call = { to, data: `0x${parts.join('')}` }
  const answer = await requestNode(client, method, [call, encodeBlock(block)])
  // An address without code answers nothing.
  return answer === '0x' ? 0n : parseQuantity(answer, method)
}
