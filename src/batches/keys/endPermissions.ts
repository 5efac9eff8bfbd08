import type { Account, Address, Client, Hash, Hex } from 'viem'
import { getBlockHead, requestQuantity } from '../../chain/rpc/requestNode.js'
import { encodeMembers } from '../../chain/state/executor.js'
import type { CallFees } from '../../chain/state/types.js'
import { drawNonce } from '../../core/drawNonce.js'
import {
  enforcers,
  exactCallEnforcer,
  metamaskDelegate,
} from '../../core/knownDelegates.js'
import { word } from '../../core/words.js'
import { OutcomeTimeoutError } from '../../payments/capture/errors.js'
import { parseAccount } from '../../payments/capture/planTransaction.js'
import { sendCall } from '../../payments/capture/sendCall.js'
import {
  defaultTimeout,
  type WaitOptions,
  waitForState,
} from '../delegates/waitForState.js'
import { CaptureKeyError } from './errors.js'
import { delegationIn, encodeGrant, type Grant } from './grant.js'
import {
  areProven,
  findNonce,
  getNonce,
  hasKnownCode,
  isDelegated,
  isDisabled,
  isManagerPaused,
} from './keyStatus.js'
import type { Permission } from './permission.js'
import { redeemCall } from './redeemCall.js'
import { signGrant } from './signGrant.js'

/** How the transaction that ends permissions is sent and waited for. */
export type EndOptions = Omit<CallFees, 'gasPrice'> &
  WaitOptions & {
    /**
     * Account that sends the transaction and pays for it, for a treasury that
     * has no native currency. Not possible while the `DelegationManager` is
     * paused, or the treasury is not delegated.
     * @default the treasury itself
     */
    sponsor?: Account | Address | undefined
    /**
     * Gas limit.
     * @default a quarter above the node's estimate
     */
    gas?: bigint | undefined
  }

type Ending = {
  account: Account
  chainId: number
  options: EndOptions
}

/** The call with which an account ends all permissions that it ever signed. */
export const endAllCall = (): { to: Address; data: Hex } => ({
  to: enforcers.nonce.address,
  // `incrementNonce(address)`
  data: `0xf5743c4c${word(metamaskDelegate.manager.address)}`,
})

/** Ends all permissions that a treasury signed so far, also unknown ones. */
export async function endAll(client: Client, ending: Ending): Promise<Hash> {
  const treasury = addressOf(ending)
  const before = await getNonce(client, treasury)
  return send(client, ending, {
    call: endAllCall(),
    isDone: async (block) => (await getNonce(client, treasury, block)) > before,
  })
}

/** Ends one permission. */
export async function endOne(
  client: Client,
  ending: Ending,
  { hash, permission }: Permission,
): Promise<Hash> {
  return send(client, ending, {
    call: {
      to: metamaskDelegate.manager.address,
      // `disableDelegation((address,address,bytes32,(address,bytes,bytes)[],uint256,bytes))`
      data: `0x49934047${word(32)}${delegationIn(permission)}`,
    },
    isDone: (block) => isDisabled(client, hash, block),
  })
}

const addressOf = ({ account }: Ending): Address =>
  account.address.toLowerCase() as Address

async function send(
  client: Client,
  ending: Ending,
  {
    call: own,
    isDone,
  }: {
    call: { to: Address; data: Hex }
    isDone(block: bigint): Promise<boolean>
  },
): Promise<Hash> {
  const { account, chainId, options } = ending
  const { timeout = defaultTimeout, signal, ...sending } = options
  const treasury = addressOf(ending)
  const sponsor = parseAccount(client, options.sponsor ?? account)
  const isOwn = sponsor.address.toLowerCase() === treasury
  const sender = isOwn ? account : sponsor
  const call = isOwn ? own : await forSponsor(client, ending, sender, own)
  signal?.throwIfAborted()
  const transactionHash = await sendCall(client, {
    call,
    chainId,
    account: sender,
    gas: options.gas ?? (await estimate(client, sender, call)),
    options: sending,
  })
  const done = await waitForState(client, transactionHash, {
    timeout,
    signal,
    read: isDone,
  }).catch((error: unknown) => {
    if (!(error instanceof OutcomeTimeoutError)) throw error
    const facts = { treasury, transactionHash, timeout }
    throw new CaptureKeyError({ reason: 'timeout', ...facts })
  })
  if (done) return transactionHash
  throw new CaptureKeyError({ reason: 'notRevoked', treasury, transactionHash })
}

/** Seconds that a sponsor has to make the call. */
const patience = 600n

/** Has the treasury let the sponsor make this one call, for ten minutes. */
async function forSponsor(
  client: Client,
  ending: Ending,
  sponsor: Account,
  call: { to: Address; data: Hex },
): Promise<{ to: Address; data: Hex }> {
  const treasury = addressOf(ending)
  const at = { chainId: ending.chainId, block: 'latest' } as const
  const [hasDelegate, areKnown, isKnown, paused, nonce, head] =
    await Promise.all([
      isDelegated(client, treasury, at),
      areProven(client, at),
      hasKnownCode(client, exactCallEnforcer, at),
      isManagerPaused(client),
      findNonce(client, treasury),
      getBlockHead(client, 'latest'),
    ])
  if (!hasDelegate)
    throw new CaptureKeyError({ reason: 'undelegated', treasury })
  if (!areKnown || !isKnown || nonce === undefined)
    throw new CaptureKeyError({ reason: 'unproven', treasury })
  if (paused) throw new CaptureKeyError({ reason: 'paused', treasury })
  const grant: Grant = {
    chainId: ending.chainId,
    treasury,
    key: sponsor.address.toLowerCase() as Address,
    targets: [call.to],
    methods: [],
    input: call.data,
    nonce,
    validBefore: (head?.timestamp ?? 0n) + patience,
    salt: BigInt(drawNonce()),
  }
  const { account, options } = ending
  const signature = await signGrant(client, account, grant, options.signal)
  return redeemCall(encodeGrant(grant, signature), call)
}

async function estimate(
  client: Client,
  { address: from }: Account,
  call: { to: Address; data: Hex },
): Promise<bigint> {
  const params = [encodeMembers({ from, ...call })]
  const gas = await requestQuantity(client, 'eth_estimateGas', params)
  return (gas * 125n) / 100n
}
