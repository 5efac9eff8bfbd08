import type {
  Account,
  Address,
  Client,
  Hash,
  Hex,
  LocalAccount,
  SignedAuthorization,
} from 'viem'
import { requestQuantity } from '../../chain/rpc/requestNode.js'
import { encodeMembers } from '../../chain/state/executor.js'
import type { CallFees } from '../../chain/state/types.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { OutcomeTimeoutError } from '../../payments/capture/errors.js'
import {
  parseAccount,
  pickFees,
  planTransaction,
} from '../../payments/capture/planTransaction.js'
import {
  sendFromWallet,
  sendRaw,
} from '../../payments/capture/sendTransaction.js'
import {
  type DelegatingTransaction,
  signerError,
  signTransaction,
} from '../../payments/capture/signTransaction.js'
import { DelegationError } from './errors.js'
import { readDelegation } from './getDelegation.js'
import type { Delegation, TrustedDelegate } from './types.js'
import {
  defaultTimeout,
  type WaitOptions,
  waitForState,
} from './waitForState.js'

/** How the transaction that changes a delegation is sent and waited for. */
export type SendDelegationOptions = Omit<CallFees, 'gasPrice'> &
  WaitOptions & {
    /**
     * The account to delegate. It must be a local account, because other wallets
     * do not sign EIP-7702 authorizations.
     * @default the client's account
     */
    account?: Account | Address | undefined
    /**
     * Account that sends the transaction and pays for it.
     * @default the account itself
     */
    sponsor?: Account | Address | undefined
    /**
     * Gas limit.
     * @default a quarter above the node's estimate
     */
    gas?: bigint | undefined
  }

type Change = {
  account: Account
  chainId: number
  /** The delegate; zero to end the delegation. */
  target: Address
  trusted: readonly TrustedDelegate[]
  /** What the transaction calls, after the change. @default nothing */
  call?: { to: Address; data: Hex } | undefined
  /** True for the wanted state. */
  isDone(delegation: Delegation): boolean
  options: SendDelegationOptions
}

/**
 * Signs the authorization, sends the transaction, waits until it is in a block,
 * and checks the account's code there.
 */
export async function sendDelegation(
  client: Client,
  change: Change,
): Promise<{ delegation: Delegation; transactionHash: Hash }> {
  const { account, options } = change
  const signer = parseSigner(account)
  const sponsor = parseAccount(client, options.sponsor ?? account)
  const isOwn = sponsor.address.toLowerCase() === account.address.toLowerCase()
  options.signal?.throwIfAborted()
  const hash = await send(client, change, signer, isOwn ? signer : sponsor)
  return waitForChange(client, change, hash)
}

type Signer = LocalAccount & {
  signAuthorization: NonNullable<LocalAccount['signAuthorization']>
}

function parseSigner(account: Account): Signer {
  if (account.type === 'local' && account.signAuthorization)
    return account as Signer
  throw new DelegationError({ reason: 'cannotSign', account: account.address })
}

async function send(
  client: Client,
  change: Change,
  signer: Signer,
  sender: Account,
): Promise<Hash> {
  const { chainId, options } = change
  const { address } = signer
  const call = change.call ?? { to: address, data: noData }
  const isOwn = sender === signer
  const managers = [signer, sender].map((one) =>
    one.type === 'local' ? one.nonceManager : undefined,
  )
  try {
    if (sender.type !== 'local') {
      const authorization = await authorize(change, signer, {
        nonce: await countOf(client, address),
      })
      const delegating = encodeDelegating(authorization)
      const gas = await decideGas(client, { sender, call, delegating, options })
      const fields = { ...call, chainId, gas, ...pickFees(options) }
      return await sendFromWallet(client, sender, { ...fields, delegating })
    }
    const planned = await planTransaction(client, {
      call,
      chainId,
      account: sender,
      gas: 0n,
      options,
    })
    if (planned.type === 'legacy') throw withoutFees()
    // The account's own transaction takes one account nonce before the
    // authorization takes the next.
    const authorization = await authorize(change, signer, {
      nonce: isOwn ? planned.nonce + 1 : await countOf(client, address),
    })
    const delegating = encodeDelegating(authorization)
    const gas = await decideGas(client, { sender, call, delegating, options })
    const transaction: DelegatingTransaction = {
      ...planned,
      gas,
      type: 'eip7702',
      authorizationList: [authorization],
    }
    const { hash, raw } = await signTransaction(client, sender, transaction)
    return await sendRaw(client, { hash, raw, givenNonce: undefined })
  } finally {
    // viem's nonce manager does not know that an authorization takes a nonce.
    for (const [index, { address }] of [signer, sender].entries())
      managers[index]?.reset({ address, chainId })
  }
}

const noData: Hex = '0x'

const countOf = async (client: Client, address: Address): Promise<number> =>
  Number(
    await requestQuantity(client, 'eth_getTransactionCount', [
      address,
      'pending',
    ]),
  )

/** Signs an authorization for this chain only: chain id 0 would be for all. */
async function authorize(
  { chainId, target: address }: Change,
  signer: Signer,
  { nonce }: { nonce: number },
): Promise<SignedAuthorization> {
  if (!(chainId > 0))
    throw new InvalidFieldError('chainId', shown(chainId), 'a chain id above 0')
  try {
    const wanted = { address, chainId, nonce }
    const { r, s, v, yParity } = await signer.signAuthorization(wanted)
    return { ...wanted, r, s, yParity: yParity ?? (Number(v) === 28 ? 1 : 0) }
  } catch (error) {
    throw signerError(error)
  }
}

/**
 * Gas of an authorization that delegates an account for the first time, and of
 * ending its permissions.
 */
const leastGas = 60_000n
const callGas = 40_000n

async function decideGas(
  client: Client,
  {
    sender,
    call,
    delegating,
    options,
  }: {
    sender: Account
    call: { to: Address; data: Hex }
    delegating: object
    options: SendDelegationOptions
  },
): Promise<bigint> {
  if (options.gas !== undefined) return options.gas
  const estimated = await requestQuantity(client, 'eth_estimateGas', [
    { ...encodeMembers({ from: sender.address, ...call }), ...delegating },
  ])
  const gas = (estimated * 125n) / 100n
  // Some nodes leave the authorization out of their estimate.
  const least = call.data === noData ? leastGas : leastGas + callGas
  return gas > least ? gas : least
}

/** What makes a transaction of a JSON-RPC request a delegating one. */
function encodeDelegating({
  address,
  chainId,
  nonce,
  r,
  s,
  yParity,
}: SignedAuthorization): object {
  const numbers = { chainId, nonce, yParity: yParity ?? 0 }
  const authorization = encodeMembers({ address, ...numbers, r, s })
  return { type: '0x4', authorizationList: [authorization] }
}

const withoutFees = (): InvalidFieldError =>
  new InvalidFieldError(
    'maxFeePerGas',
    undefined,
    'given, since this chain names no EIP-1559 fees',
  )

async function waitForChange(
  client: Client,
  { account, chainId, trusted, isDone, options }: Change,
  transactionHash: Hash,
): Promise<{ delegation: Delegation; transactionHash: Hash }> {
  const { address } = account
  const { timeout = defaultTimeout, signal } = options
  const delegation = await waitForState(client, transactionHash, {
    timeout,
    signal,
    read: (block) =>
      readDelegation(client, address, trusted, { chainId, block }),
  }).catch((error: unknown) => {
    if (!(error instanceof OutcomeTimeoutError)) throw error
    throw new DelegationError({ reason: 'timeout', transactionHash, timeout })
  })
  if (isDone(delegation)) return { delegation, transactionHash }
  throw new DelegationError({
    reason: 'notApplied',
    account: address,
    transactionHash,
  })
}
