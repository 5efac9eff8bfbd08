import type { Address, Client, Hex } from 'viem'
import {
  encodeBlock,
  getBlockHead,
  parseQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { enforcers, metamaskDelegate } from '../../core/knownDelegates.js'
import { word } from '../../core/words.js'
import { delegateOf } from '../delegates/getDelegation.js'
import {
  getCode,
  proveDelegate,
  provesCode,
  type ReadAt,
} from '../delegates/proveDelegate.js'
import { proveOnce } from '../delegates/proveOnce.js'
import type { Permission } from './permission.js'
import type { CaptureKeyStatus } from './types.js'

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
      isManagerPaused(client),
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

/** False where no permission can work: all of them need this contract. */
export async function hasEnforcer(
  client: Client,
  at: ReadAt,
): Promise<boolean> {
  return (await getCode(client, enforcers.nonce.address, at)) !== '0x'
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
  const proofs = [
    proveOnce(client, metamaskDelegate, async () => {
      const { address } = metamaskDelegate
      const found = await proveDelegate(client, address, metamaskDelegate, at)
      return found.status === 'known'
    }),
    ...Object.values(enforcers).map((known) =>
      proveOnce(client, known, async () =>
        provesCode(await getCode(client, known.address, at), known, at.chainId),
      ),
    ),
  ]
  return (await Promise.all(proofs)).every(Boolean)
}

type Block = ReadAt['block']

export async function isManagerPaused(client: Client): Promise<boolean> {
  const { address } = metamaskDelegate.manager
  return (await ask(client, address, ['5c975abb'], 'latest')) !== 0n
}

/** True when the treasury has ended the delegation with this hash. */
export async function isDisabled(
  client: Client,
  hash: Hex,
  block: Block = 'latest',
): Promise<boolean> {
  const { address } = metamaskDelegate.manager
  return (await ask(client, address, ['2d40d052', word(hash)], block)) !== 0n
}

/** Gets the number that permissions of a treasury must name. */
export function getNonce(
  client: Client,
  treasury: Address,
  block: Block = 'latest',
): Promise<bigint> {
  const { address } = metamaskDelegate.manager
  const data = ['2bd4ed21', word(address), word(treasury)]
  return ask(client, enforcers.nonce.address, data, block)
}

async function ask(
  client: Client,
  to: Address,
  data: readonly string[],
  block: Block,
): Promise<bigint> {
  const method = 'eth_call'
  const call = { to, data: `0x${data.join('')}` }
  const answer = await requestNode(client, method, [call, encodeBlock(block)])
  // An address without code answers nothing.
  return answer === '0x' ? 0n : parseQuantity(answer, method)
}
