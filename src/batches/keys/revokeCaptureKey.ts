import type { Account, Address, Client, Hash, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { checkSignal } from '../../core/checkSignal.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseAccount } from '../../payments/capture/planTransaction.js'
import { checkMilliseconds } from '../../payments/capture/startWait.js'
import { getClientChain } from '../delegates/getDelegation.js'
import { type EndOptions, endAll, endOne } from './endPermissions.js'
import { getNonce, isDisabled } from './keyStatus.js'
import { readPermission } from './permission.js'

/** Parameters of {@link revokeCaptureKey}. */
export type RevokeCaptureKeyParameters = EndOptions & {
  /**
   * The permission that `createCaptureKey` returned; or `'all'` to end every
   * permission that the treasury signed so far, also one that you no longer
   * have.
   */
  permission: Hex | 'all'
  /** The treasury. @default the client's account */
  account?: Account | Address | undefined
}

/**
 * Ends the permission of a capture key, waits for the transaction, and checks
 * the result. Works while the `DelegationManager` is paused, and also for keys
 * to which the permission was passed on. Sends nothing if the permission has
 * ended already.
 *
 * A capture that the key sent before can still get into a block first. It pays
 * the treasury, like every other.
 *
 * @throws {@link CaptureKeyError} when the permission did not end, or may not
 * have yet; or when a sponsor cannot send while the manager is paused.
 * @throws {@link SendError} when the node or wallet did not accept the
 * transaction.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the wallet is on another chain.
 * @throws {@link WalletError} when the wallet fails to sign for the sponsor.
 * @throws {@link AccountError} when there is no account.
 * @throws {@link InvalidFieldError} when a parameter is malformed, or the
 * permission is that of another treasury.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or is on another chain than the client.
 *
 * @example
 * ```ts
 * import { revokeCaptureKey } from 'countersign/batches'
 * import type { Hex, WalletClient } from 'viem'
 *
 * const revoke = (treasury: WalletClient, permission: Hex) =>
 *   revokeCaptureKey(treasury, { permission })
 * ```
 */
export async function revokeCaptureKey(
  client: Client,
  parameters: RevokeCaptureKeyParameters,
): Promise<{ transactionHash: Hash | undefined }> {
  checkMembers(parameters, [
    'permission',
    'account',
    'sponsor',
    'gas',
    'timeout',
    'signal',
    'maxFeePerGas',
    'maxPriorityFeePerGas',
  ])
  const {
    permission: given,
    account: named,
    ...options
  }: RevokeCaptureKeyParameters = Object(parameters)
  checkMilliseconds(options.timeout, 'timeout')
  checkSignal(options.signal)
  const account = parseAccount(client, named)
  options.signal?.throwIfAborted()
  const chainId = await getClientChain(client)
  const ending = { account, chainId, options }
  if (given === 'all') return { transactionHash: await endAll(client, ending) }
  const permission = readPermission(given, { chainId, field: 'permission' })
  const { treasury, hash, nonce } = permission
  if (treasury !== account.address.toLowerCase())
    throw new InvalidFieldError(
      'permission',
      shown(treasury),
      `a permission of the treasury ${account.address}`,
    )
  const [hasEnded, number] = await Promise.all([
    isDisabled(client, hash),
    getNonce(client, treasury),
  ])
  // The number only grows: a smaller one is the answer of a node that is behind.
  if (hasEnded || number > nonce) return { transactionHash: undefined }
  return { transactionHash: await endOne(client, ending, permission) }
}
