import type {
  Account,
  Address,
  Client,
  Hex,
  LocalAccount,
  NonceManager,
} from 'viem'
import { estimateFeesPerGas } from 'viem/actions'
import { NodeError, parseFailure } from '../../chain/rpc/errors.js'
import { requestQuantity } from '../../chain/rpc/requestNode.js'
import type { CallFees } from '../../chain/state/types.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { findCause } from '../../core/findCause.js'
import type { TokenCall } from '../message/captureCall.js'
import type { Rehearsal } from '../verify/types.js'
import { AccountError } from './errors.js'

/**
 * How to send a transaction. Fields that you leave out are taken from the node.
 */
export type SendOptions = CallFees & {
  /**
   * Account that sends the transaction.
   * @default the client's account
   */
  account?: Account | Address | undefined
  /** Account nonce. @default the count of the node's `pending` block */
  nonce?: number | undefined
  /**
   * Gas limit.
   * @default a quarter above the gas that the simulation used
   */
  gas?: bigint | undefined
  /**
   * Highest gas limit to choose. A transaction whose simulation needs more is
   * not sent.
   * @default 300_000n
   */
  maxCaptureGas?: bigint | undefined
}

/** A transaction whose fields are all decided, ready to sign. */
export type PlannedTransaction = {
  to: Address
  data: Hex
  chainId: number
  nonce: number
  gas: bigint
} & (
  | { type: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
  | { type: 'legacy'; gasPrice: bigint }
)

export function parseAccount(
  client: Client,
  account: Account | Address | undefined = client.account,
): Account {
  if (!account) throw new AccountError('send')
  return typeof account === 'string'
    ? { address: account, type: 'json-rpc' }
    : account
}

export function parseLocalAccount(account: Account): LocalAccount {
  if (account.type !== 'local') throw new AccountError('sign')
  return account
}

/**
 * Completes a transaction: asks the node for the account nonce and the fees
 * unless they are given.
 */
export async function planTransaction(
  client: Client,
  {
    call,
    chainId,
    account,
    gas,
    options,
  }: {
    call: Pick<TokenCall, 'to' | 'data'>
    chainId: number
    account: Account
    gas: bigint
    options: SendOptions
  },
): Promise<PlannedTransaction> {
  const asked = decideFees(client, options)
  // Gets the fees before viem's nonce manager gives out a nonce. If the fees
  // failed after that, the nonce would stay unused and block all later
  // transactions.
  const manager = account.type === 'local' ? account.nonceManager : undefined
  if (manager && options.nonce === undefined) await asked
  const [nonce, fees] = await Promise.all([
    options.nonce ?? getNonce(client, account.address, chainId, manager),
    asked,
  ])
  const { type, ...prices } = fees
  // Checks the numbers, because a signer would treat a value that is not a
  // number as 0.
  for (const [field, value] of Object.entries({ nonce, gas, ...prices }))
    if (!/^\d+$/.test(String(value)))
      throw new InvalidFieldError(
        field,
        shown(value),
        'an integer of 0 or more',
      )
  return { to: call.to, data: call.data, chainId, nonce, gas, ...fees }
}

async function getNonce(
  client: Client,
  address: Address,
  chainId: number,
  manager: NonceManager | undefined,
): Promise<number> {
  const method = 'eth_getTransactionCount'
  if (manager)
    return manager
      .consume({ address, chainId, client })
      .catch((error: unknown) => {
        throw new NodeError({
          method,
          failure: parseFailure(error, client.transport),
        })
      })
  return Number(await requestQuantity(client, method, [address, 'pending']))
}

export type DecidedFees =
  | { type: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
  | { type: 'legacy'; gasPrice: bigint }

async function decideFees(
  client: Client,
  { gasPrice, ...request }: CallFees,
): Promise<DecidedFees> {
  const { maxFeePerGas, maxPriorityFeePerGas } = request
  if (gasPrice !== undefined) return { type: 'legacy', gasPrice }
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined)
    return { type: 'eip1559', maxFeePerGas, maxPriorityFeePerGas }
  const fees = await estimateFees(client, request)
  if (fees.type === 'legacy') return fees
  const { maxFeePerGas: cap, maxPriorityFeePerGas: tip } = fees
  return { ...fees, maxPriorityFeePerGas: tip < cap ? tip : cap }
}

/** Estimates fees with viem. Uses the gas price if blocks have no base fee. */
async function estimateFees(
  client: Client,
  request: Pick<CallFees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
): Promise<DecidedFees> {
  try {
    const fees = await estimateFeesPerGas(client, {
      chain: client.chain,
      request: pickFees(request),
    } as never)
    return { type: 'eip1559', ...fees }
  } catch (error) {
    if (
      findCause(error, 'Eip1559FeesNotSupportedError') &&
      request.maxFeePerGas === undefined
    )
      return {
        type: 'legacy',
        gasPrice: await requestQuantity(client, 'eth_gasPrice'),
      }
    throw new NodeError({
      method: 'eth_gasPrice',
      failure: parseFailure(error, client.transport),
    })
  }
}

/**
 * Adds a quarter to the simulated gas, up to `maxGas`, because state may change
 * before the capture. Returns `maxGas` when the gas is unknown.
 */
export function gasLimit(
  rehearsal: Rehearsal | undefined,
  maxGas: bigint,
): bigint {
  const used = rehearsal?.at.gasUsed ?? maxGas
  const limit = (used * 125n) / 100n
  return limit < maxGas ? limit : maxGas
}

/**
 * Returns the fee fields of a transaction: the gas price if it is given, or
 * else the two EIP-1559 fees.
 */
export function pickFees({
  maxFeePerGas,
  maxPriorityFeePerGas,
  gasPrice,
}: CallFees): CallFees {
  return gasPrice === undefined
    ? { maxFeePerGas, maxPriorityFeePerGas }
    : { gasPrice }
}

export function hasFees({ maxFeePerGas, gasPrice }: SendOptions): boolean {
  return maxFeePerGas !== undefined || gasPrice !== undefined
}
