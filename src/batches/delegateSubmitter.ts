import type { Address, Client } from 'viem'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { checkSignal } from '../core/checkSignal.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import {
  type DelegateName,
  type KnownDelegate,
  knownDelegates,
  metamaskDelegate,
} from '../core/knownDelegates.js'
import { parseAccount } from '../payments/capture/planTransaction.js'
import { checkMilliseconds } from '../payments/capture/startWait.js'
import { DelegationError } from './delegates/errors.js'
import {
  getClientChain,
  parseTrustedDelegate,
  readDelegation,
} from './delegates/getDelegation.js'
import { proveDelegate } from './delegates/proveDelegate.js'
import {
  type SendDelegationOptions,
  sendDelegation,
} from './delegates/sendDelegation.js'
import type { DelegationChange, TrustedDelegate } from './delegates/types.js'
import { waitForState } from './delegates/waitForState.js'
import { endAll, endAllCall } from './keys/endPermissions.js'
import { CaptureKeyError } from './keys/errors.js'
import { getNonce, hasEnforcer } from './keys/keyStatus.js'

/** Parameters of {@link delegateSubmitter}. */
export type DelegateSubmitterParameters = SendDelegationOptions & {
  /**
   * A known delegate, or another that you trust, by the hash of its code.
   * @default 'metamask'
   */
  delegate?: DelegateName | TrustedDelegate | undefined
}

/** Parameters of {@link undelegateSubmitter}. */
export type UndelegateSubmitterParameters = SendDelegationOptions

const sendMembers: MembersOf<SendDelegationOptions> = {
  account: true,
  sponsor: true,
  gas: true,
  timeout: true,
  signal: true,
  maxFeePerGas: true,
  maxPriorityFeePerGas: true,
}

/**
 * Delegates a submitter's account to a delegate that runs batches (EIP-7702),
 * waits for the transaction, and checks the account's code. Sends nothing if the
 * account is delegated to it already.
 *
 * The delegation stays until {@link undelegateSubmitter}, also after the process
 * ends. The signed authorization is for this chain only. The code of the
 * delegate is proven before anything is signed.
 *
 * @throws {@link DelegationError} when the account is a contract, is delegated to
 * another delegate or cannot sign an authorization; when the delegate's code is
 * not the known one; or when the change was not seen on the chain.
 * @throws {@link SendError} when the node or wallet did not accept the
 * transaction, or the account failed to sign.
 * @throws {@link AccountError} when there is no account.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the sponsor's wallet is on another chain.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or is on another chain than the client.
 *
 * @example
 * ```ts
 * import { delegateSubmitter } from 'countersign/batches'
 * import type { PrivateKeyAccount, WalletClient } from 'viem'
 *
 * const delegate = (wallet: WalletClient, sponsor: PrivateKeyAccount) =>
 *   delegateSubmitter(wallet, { delegate: 'metamask', sponsor })
 * ```
 */
export async function delegateSubmitter(
  client: Client,
  parameters: DelegateSubmitterParameters = {},
): Promise<DelegationChange> {
  checkMembers(parameters, { ...sendMembers, delegate: true })
  const { delegate = 'metamask', ...options } = parameters
  const expected = parseDelegate(delegate)
  const { address } = expected
  const trusted = 'name' in expected ? [] : [expected]
  const { account, chainId, before } = await look(client, options, trusted)
  if (before.status === 'known' && before.address === address)
    return { delegation: before, transactionHash: undefined }
  if (before.status === 'contract')
    throw new DelegationError({
      reason: 'isContract',
      account: account.address,
    })
  if (before.status !== 'none' && before.address !== address)
    throw new DelegationError({
      reason: 'otherDelegate',
      account: account.address,
      delegate: before.address,
    })
  const at = { chainId, block: 'latest' } as const
  const found = await proveDelegate(client, address, expected, at)
  if (found.status === 'unknown')
    throw new DelegationError({
      reason: 'unprovenCode',
      delegate: address,
      codeHash: found.codeHash,
    })
  return sendDelegation(client, {
    account,
    chainId,
    target: address,
    trusted,
    isDone: (after) => after.status === 'known' && after.address === address,
    options,
  })
}

/**
 * Ends the delegation of an account (EIP-7702), whatever it is delegated to,
 * waits for the transaction, and checks that the account has no code. Sends
 * nothing if the account is not delegated.
 *
 * Of an account that is delegated to MetaMask's delegate, also ends all
 * permissions that it signed, such as those of capture keys: otherwise they would
 * work again once the account is delegated again. If it pays itself, that is the
 * same transaction. A sponsor sends one more before, which is not possible while
 * the `DelegationManager` is paused.
 *
 * @throws {@link DelegationError} when the account is a contract or cannot sign
 * an authorization, or when the change was not seen on the chain.
 * @throws {@link CaptureKeyError} when the permissions did not end.
 * @throws {@link OutcomeTimeoutError} when the node no longer answers whether
 * they did.
 * @throws {@link SendError} when the node or wallet did not accept the
 * transaction, or the account failed to sign.
 * @throws {@link AccountError} when there is no account.
 * @throws {@link SigningDeclinedError} when the user declines in the wallet.
 * @throws {@link WrongWalletError} when the sponsor's wallet is on another chain.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or is on another chain than the client.
 *
 * @example
 * ```ts
 * import { undelegateSubmitter } from 'countersign/batches'
 * import type { WalletClient } from 'viem'
 *
 * const undelegate = (wallet: WalletClient) => undelegateSubmitter(wallet)
 * ```
 */
export async function undelegateSubmitter(
  client: Client,
  parameters: UndelegateSubmitterParameters = {},
): Promise<DelegationChange> {
  checkMembers(parameters, sendMembers)
  const { account, chainId, before } = await look(client, parameters, [])
  if (before.status === 'none')
    return { delegation: before, transactionHash: undefined }
  if (before.status === 'contract')
    throw new DelegationError({
      reason: 'isContract',
      account: account.address,
    })
  const { sponsor = account, gas: _, ...options } = parameters
  const treasury = account.address.toLowerCase() as Address
  const payer = parseAccount(client, sponsor).address.toLowerCase()
  const isOwn = payer === treasury
  const hasPermissions =
    before.address === metamaskDelegate.address &&
    (await hasEnforcer(client, { chainId, block: 'latest' }))
  const number = hasPermissions ? await getNonce(client, treasury) : 0n
  if (hasPermissions && !isOwn)
    await endAll(client, {
      account,
      chainId,
      options: { ...options, sponsor },
    })
  const ended = await sendDelegation(client, {
    account,
    chainId,
    target: `0x${'0'.repeat(40)}`,
    trusted: [],
    call: hasPermissions && isOwn ? endAllCall() : undefined,
    isDone: ({ status }) => status === 'none',
    options: parameters,
  })
  const { transactionHash } = ended
  // The end of the delegation stays, even if the call in it reverted.
  const { timeout, signal } = parameters
  const isEnded =
    !hasPermissions ||
    (await waitForState(client, transactionHash, {
      timeout,
      signal,
      read: async (block) => (await getNonce(client, treasury, block)) > number,
    }))
  if (!isEnded)
    throw new CaptureKeyError({
      reason: 'notRevoked',
      treasury,
      transactionHash,
    })
  return ended
}

async function look(
  client: Client,
  options: SendDelegationOptions,
  trusted: readonly TrustedDelegate[],
) {
  const { timeout, signal } = options
  checkMilliseconds(timeout, 'timeout')
  checkSignal(signal)
  signal?.throwIfAborted()
  const account = parseAccount(client, options.account)
  const chainId = await getClientChain(client)
  const at = { chainId, block: 'latest' } as const
  const before = await readDelegation(client, account.address, trusted, at)
  return { account, chainId, before }
}

function parseDelegate(
  delegate: DelegateName | TrustedDelegate,
): KnownDelegate | TrustedDelegate {
  if (typeof delegate === 'object' && delegate)
    return parseTrustedDelegate(delegate, 'delegate')
  const known = knownDelegates.find(({ name }) => name === delegate)
  if (known) return known
  const names = knownDelegates.map(({ name }) => name)
  throw new InvalidFieldError('delegate', shown(delegate), names)
}
