import type { Account, Address, Client } from 'viem'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { checkMembers } from '../../core/checkMembers.js'
import { checkSignal } from '../../core/checkSignal.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { parseAccount } from '../../payments/capture/planTransaction.js'
import { getClientChain } from '../delegates/getDelegation.js'
import { CaptureKeyError } from './errors.js'
import type { Grant } from './grant.js'
import { areProven, findNonce, isDelegated } from './keyStatus.js'
import {
  captureMethods,
  isEnd,
  isKeyFor,
  mostTokens,
  permissionOf,
} from './permission.js'
import { signGrant } from './signGrant.js'
import type { CaptureKey } from './types.js'

/** Parameters of {@link createCaptureKey}. */
export type CreateCaptureKeyParameters = {
  /** The account that may capture. It pays the gas of its captures. */
  key: Address
  /** The tokens whose payments it may capture: one to 20. */
  tokens: readonly Address[]
  /**
   * Unix seconds from which the permission no longer works.
   * @default it works until it is revoked
   */
  validBefore?: bigint | undefined
  /** The treasury. @default the client's account */
  account?: Account | Address | undefined
  signal?: AbortSignal | undefined
}

/**
 * Has a treasury sign a permission for a key: the key can then capture payments
 * to the treasury, and can do nothing else in its name. Sends nothing.
 *
 * The treasury must be delegated to MetaMask's delegate, see
 * {@link delegateSubmitter}. The key calls `receiveWithAuthorization` of these
 * tokens through MetaMask's `DelegationManager`; it cannot capture payments with a
 * ceiling. Give each key a permission of its own, so that you can revoke it
 * alone, with {@link revokeCaptureKey}.
 *
 * @throws {@link CaptureKeyError} when the treasury is not delegated, or a
 * contract on which the permission relies has other code.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the wallet has another account or chain.
 * @throws {@link WalletError} when the wallet fails, or signs something else.
 * @throws {@link AccountError} when there is no account.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or is on another chain than the client.
 *
 * @example
 * ```ts
 * import { createCaptureKey } from 'countersign/batches'
 * import type { Address, WalletClient } from 'viem'
 *
 * const permit = (treasury: WalletClient, key: Address) =>
 *   createCaptureKey(treasury, {
 *     key,
 *     tokens: ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
 *   })
 * ```
 */
export async function createCaptureKey(
  client: Client,
  parameters: CreateCaptureKeyParameters,
): Promise<CaptureKey> {
  checkMembers(parameters, [
    'key',
    'tokens',
    'validBefore',
    'account',
    'signal',
  ])
  const given: Partial<CreateCaptureKeyParameters> = Object(parameters)
  const { signal, validBefore } = given
  checkSignal(signal)
  const account = parseAccount(client, given.account)
  const treasury = account.address.toLowerCase() as Address
  const key = parseKey(given.key, treasury)
  const targets = parseTokens(given.tokens)
  signal?.throwIfAborted()
  const chainId = await getClientChain(client)
  const at = { chainId, block: 'latest' } as const
  const [hasDelegate, isProven, nonce, head] = await Promise.all([
    isDelegated(client, treasury, at),
    areProven(client, at),
    findNonce(client, treasury),
    getBlockHead(client, 'latest'),
  ])
  if (!hasDelegate)
    throw new CaptureKeyError({ reason: 'undelegated', treasury })
  if (!isProven || nonce === undefined)
    throw new CaptureKeyError({ reason: 'unproven', treasury })
  checkEnd(validBefore, head?.timestamp ?? 0n)
  const grant: Grant = {
    chainId,
    treasury,
    key,
    targets,
    methods: captureMethods(),
    nonce,
    validBefore,
    salt: BigInt(drawNonce()),
  }
  const signature = await signGrant(client, account, grant, signal)
  const { nonce: _, ...signed } = permissionOf(grant, signature)
  return signed
}

function parseKey(given: unknown, treasury: Address): Address {
  const key = parseCheckedAddress(given, 'key')
  if (isKeyFor(key, treasury)) return key
  throw new InvalidFieldError(
    'key',
    shown(key),
    'the address of another account than the treasury',
  )
}

function parseTokens(given: unknown): readonly Address[] {
  if (!Array.isArray(given) || !given.length || given.length > mostTokens)
    throw new InvalidFieldError(
      'tokens',
      given,
      `a list of 1 to ${mostTokens} addresses`,
    )
  const tokens = given.map((token, index) =>
    parseCheckedAddress(token, `tokens[${index}]`),
  )
  return [...new Set(tokens)]
}

function checkEnd(validBefore: unknown, now: bigint): void {
  if (validBefore === undefined) return
  if (!isEnd(validBefore) || validBefore <= now)
    throw new InvalidFieldError(
      'validBefore',
      shown(validBefore),
      `Unix seconds as a bigint, after the newest block's ${now}`,
    )
}
