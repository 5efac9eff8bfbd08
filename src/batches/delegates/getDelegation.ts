import type { Address, Client, Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getChainId } from '../../chain/rpc/requestNode.js'
import { checkChain } from '../../chain/state/checkChain.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseBytes32 } from '../../core/fields.js'
import { knownDelegates } from '../../core/knownDelegates.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { getCode, proveDelegate, type ReadAt } from './proveDelegate.js'
import type { Delegation, TrustedDelegate } from './types.js'

/** Parameters of {@link getDelegation}. */
export type GetDelegationParameters = {
  account: Address
  /** Delegates that you trust beside those that this library knows. */
  trusted?: readonly TrustedDelegate[] | undefined
}

/**
 * Gets what the code of an account says: none, a contract, or delegated
 * (EIP-7702), and to which delegate. Proves the delegate by its code, not by its
 * address alone.
 *
 * Reads the newest block, which a reorganization can still undo.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or it is on
 * another chain than the client.
 *
 * @example
 * ```ts
 * import { getDelegation } from 'countersign/batches'
 * import type { Address, PublicClient } from 'viem'
 *
 * async function canBatch(client: PublicClient, account: Address) {
 *   const { status } = await getDelegation(client, { account })
 *   return status === 'known'
 * }
 * ```
 */
export async function getDelegation(
  client: Client,
  parameters: GetDelegationParameters,
): Promise<Delegation> {
  checkMembers(parameters, ['account', 'trusted'])
  const { account, trusted = [] } = parameters
  const address = parseCheckedAddress(account, 'account')
  const known = parseTrusted(trusted, 'trusted')
  const chainId = await getClientChain(client)
  return readDelegation(client, address, known, { chainId, block: 'latest' })
}

/** Returns the chain of a client, after checking that its node is on it. */
export async function getClientChain(client: Client): Promise<number> {
  const { chain } = client
  if (!chain) return getChainId(client)
  await checkChain(client, chain.id)
  return chain.id
}

export function parseTrusted(
  trusted: readonly TrustedDelegate[],
  field: string,
): readonly TrustedDelegate[] {
  if (!Array.isArray(trusted))
    throw new InvalidFieldError(field, shown(trusted), 'a list of delegates')
  return trusted.map((one, index) =>
    parseTrustedDelegate(one, `${field}[${index}]`),
  )
}

export function parseTrustedDelegate(
  given: TrustedDelegate,
  field: string,
): TrustedDelegate {
  checkMembers(given, ['address', 'codeHash'], field)
  const { address, codeHash } = Object(given)
  return {
    address: parseCheckedAddress(address, `${field}.address`),
    codeHash: parseBytes32(codeHash, `${field}.codeHash`),
  }
}

/** What an account's code begins with if it is delegated (EIP-7702). */
const designator = '0xef0100'

export async function readDelegation(
  client: Client,
  account: Address,
  trusted: readonly TrustedDelegate[],
  at: ReadAt,
): Promise<Delegation> {
  const code = await getCode(client, account, at)
  if (code === '0x') return { status: 'none' }
  const address = delegateOf(code)
  if (!address) return { status: 'contract' }
  const expected = [...trusted, ...knownDelegates].find(
    (delegate) => delegate.address === address,
  )
  return proveDelegate(client, address, expected, at)
}

/**
 * Returns the delegate that an account's code names; `undefined` for a plain
 * account or a contract.
 *
 * @throws {@link NodeAnswerError} when the code is neither.
 */
export function delegateOf(code: Hex): Address | undefined {
  if (!code.startsWith('0xef')) return undefined
  if (!code.startsWith(designator) || code.length !== 48)
    throw new NodeAnswerError({
      method: 'eth_getCode',
      problem: 'is neither a contract nor a delegation',
    })
  return `0x${code.slice(designator.length)}`
}
