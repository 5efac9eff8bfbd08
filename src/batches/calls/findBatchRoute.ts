import type { Address, Client, Hex } from 'viem'
import { knownDelegates, multicall } from '../../core/knownDelegates.js'
import { delegateOf } from '../delegates/getDelegation.js'
import {
  getCode,
  proveDelegate,
  provesCode,
} from '../delegates/proveDelegate.js'
import { proveOnce } from '../delegates/proveOnce.js'
import type { TrustedDelegate } from '../delegates/types.js'
import { type BatchedCall, batchCall, multicallCall } from './batchCall.js'

/** A contract through which one transaction makes many calls. */
export type BatchRoute = {
  /** The address that the transaction calls. */
  to: Address
  /** Gas that the contract needs besides that of the calls. */
  gas: bigint
  /** True if the calls come from the sender itself, not from the contract. */
  isOwn: boolean
  /** Encodes the calls. The others succeed if one fails. */
  encode(calls: readonly BatchedCall[]): Hex
}

/**
 * Finds the contract for batches of an account: the delegate of the account if
 * it is a known one, or else Multicall3. Both are proven by their code, once for
 * each client; the account's code is read each time.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function findBatchRoute(
  client: Client,
  {
    account,
    chainId,
    mayDelegate,
    trusted,
  }: {
    account: Address
    chainId: number
    /** False if the account is known to have no code. */
    mayDelegate: boolean
    /** Delegates that are trusted beside the known ones. */
    trusted: readonly TrustedDelegate[]
  },
): Promise<BatchRoute | undefined> {
  const at = { chainId, block: 'latest' } as const
  const [code, hasMulticall] = await Promise.all([
    mayDelegate ? getCode(client, account, at) : ('0x' as const),
    proveOnce(client, multicall, async () =>
      provesCode(
        await getCode(client, multicall.address, at),
        multicall,
        at.chainId,
      ),
    ),
  ])
  const delegate = delegateOf(code)
  const expected = [...trusted, ...knownDelegates].find(
    ({ address }) => address === delegate,
  )
  const isKnown =
    expected !== undefined &&
    (await proveOnce(client, expected, async () => {
      const { address } = expected
      const { status } = await proveDelegate(client, address, expected, at)
      return status === 'known'
    }))
  if (isKnown)
    return {
      to: account,
      gas,
      isOwn: true,
      encode: (calls) => batchCall({ account, calls }).data,
    }
  if (!hasMulticall) return undefined
  const { address: to } = multicall
  return {
    to,
    gas,
    isOwn: false,
    encode: (calls) => multicallCall({ calls }).data,
  }
}

const gas = 50_000n
