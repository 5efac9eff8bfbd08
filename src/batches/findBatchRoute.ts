import type { Address, Client, Hex } from 'viem'
import { knownDelegates, multicall } from '../core/knownDelegates.js'
import { type BatchedCall, batchCall, multicallCall } from './batchCall.js'
import { delegateOf } from './getDelegation.js'
import { getCode, proveDelegate, provesCode } from './proveDelegate.js'
import type { TrustedDelegate } from './types.js'

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
    once(client, multicall, async () =>
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
    (await once(client, expected, async () => {
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

const proven = /* @__PURE__ */ new WeakMap<
  Client,
  Map<string, Promise<boolean>>
>()

/** Asks about a contract's code once. After a failure, asks again. */
function once(
  client: Client,
  { address, codeHash }: TrustedDelegate,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const known = proven.get(client) ?? new Map<string, Promise<boolean>>()
  proven.set(client, known)
  const key = `${address} ${codeHash}`
  const asked = known.get(key) ?? ask()
  known.set(key, asked)
  asked.catch(() => known.delete(key))
  return asked
}
