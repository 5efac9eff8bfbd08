import type { Address, Client, Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import {
  encodeBlock,
  getBlockHead,
  parseQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import {
  enforcers,
  type KnownCode,
  metamaskDelegate,
} from '../../core/knownDelegates.js'
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
 * Gets whether a permission works, at the newest block or after another one.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function getKeyStatus(
  client: Client,
  { chainId, treasury, hash, nonce, validBefore }: Permission,
  block: Block = 'latest',
): Promise<CaptureKeyStatus> {
  const at = { chainId, block }
  const [hasDelegate, isProven, paused, disabled, number, head] =
    await Promise.all([
      isDelegated(client, treasury, at),
      areProven(client, at),
      isManagerPaused(client, block),
      isDisabled(client, hash, block),
      findNonce(client, treasury, block),
      validBefore === undefined ? undefined : getBlockHead(client, block),
    ])
  if (!hasDelegate) return 'undelegated'
  if (!isProven) return 'unproven'
  if (number === undefined)
    throw new NodeAnswerError({ method: 'eth_call', problem: 'is empty' })
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
    ...Object.values(enforcers).map((known) => hasKnownCode(client, known, at)),
  ]
  return (await Promise.all(proofs)).every(Boolean)
}

/**
 * True when a contract has the known code. Reads it once for each client.
 */
export const hasKnownCode = (
  client: Client,
  known: KnownCode,
  at: ReadAt,
): Promise<boolean> =>
  proveOnce(client, known, async () =>
    provesCode(await getCode(client, known.address, at), known, at.chainId),
  )

type Block = ReadAt['block']

const isSet = (answer: bigint | undefined): boolean => (answer ?? 0n) !== 0n

export async function isManagerPaused(
  client: Client,
  block: Block = 'latest',
): Promise<boolean> {
  const { address } = metamaskDelegate.manager
  return isSet(await ask(client, address, ['5c975abb'], block))
}

/** True when the treasury has ended the delegation with this hash. */
export async function isDisabled(
  client: Client,
  hash: Hex,
  block: Block = 'latest',
): Promise<boolean> {
  const { address } = metamaskDelegate.manager
  return isSet(await ask(client, address, ['2d40d052', word(hash)], block))
}

/**
 * Gets the number that permissions of a treasury must name; `undefined` if the
 * node answers nothing. Sign no permission then: with another number, it does
 * not work, or begins to work later.
 */
export async function findNonce(
  client: Client,
  treasury: Address,
  block: Block = 'latest',
): Promise<bigint | undefined> {
  const { address } = metamaskDelegate.manager
  const data = ['2bd4ed21', word(address), word(treasury)]
  return ask(client, enforcers.nonce.address, data, block)
}

/** Like {@link findNonce}, but zero if the node answers nothing. */
export const getNonce = async (
  client: Client,
  treasury: Address,
  block?: Block | undefined,
): Promise<bigint> => (await findNonce(client, treasury, block)) ?? 0n

/** Gets a word; `undefined` where an address without code answers nothing. */
async function ask(
  client: Client,
  to: Address,
  data: readonly string[],
  block: Block,
): Promise<bigint | undefined> {
  const method = 'eth_call'
  const call = { to, data: `0x${data.join('')}` }
  const answer = await requestNode(client, method, [call, encodeBlock(block)])
  return answer === '0x' ? undefined : parseQuantity(answer, method)
}
