import type { Account, Address, Client, Hex, LocalAccount } from 'viem'
import { parseAccount } from 'viem/accounts'
import { estimateFeesPerGas } from 'viem/actions'
import type { TokenCall } from '../build/captureCall.js'
import { NodeError, readFailure } from '../reads/errors.js'
import { readQuantity, requestNode } from '../reads/requestNode.js'
import type { CallFees } from '../reads/types.js'
import type { Rehearsal } from '../verify/types.js'
import { AccountError } from './errors.js'

/** How to send a transaction. What is left out is asked from the node. */
export type SendOptions = CallFees & {
  /** @default the client's account */
  account?: Account | Address | undefined
  /** Account nonce. @default the count of the node's `pending` block */
  nonce?: number | undefined
  /** Gas limit. @default a quarter above what the rehearsal used */
  gas?: bigint | undefined
  /** Highest gas limit. @default 300_000n */
  maxCaptureGas?: bigint | undefined
}

/** A transaction with every field decided. */
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

export function readAccount(
  client: Client,
  account: Account | Address | undefined = client.account,
): Account {
  if (!account) throw new AccountError('can send')
  return parseAccount(account)
}

export function readLocalAccount(account: Account): LocalAccount {
  if (account.type !== 'local')
    throw new AccountError('can sign a transaction here')
  return account
}

/** Fills in nonce and fees; asks nothing where both are given. */
export async function planTransaction(
  client: Client,
  {
    call,
    chainId,
    account,
    gas,
    options,
  }: {
    call: TokenCall
    chainId: number
    account: Account
    gas: bigint
    options: SendOptions
  },
): Promise<PlannedTransaction> {
  const [nonce, fees] = await Promise.all([
    options.nonce ?? getNonce(client, account, chainId),
    decideFees(client, options),
  ])
  return { to: call.to, data: call.data, chainId, nonce, gas, ...fees }
}

async function getNonce(
  client: Client,
  account: Account,
  chainId: number,
): Promise<number> {
  const { address } = account
  if (account.type === 'local' && account.nonceManager)
    return account.nonceManager.consume({ address, chainId, client })
  const method = 'eth_getTransactionCount'
  const count = await requestNode(client, method, [address, 'pending'])
  return Number(readQuantity(count, method))
}

async function decideFees(
  client: Client,
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: CallFees,
): Promise<
  | { type: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
  | { type: 'legacy'; gasPrice: bigint }
> {
  if (gasPrice !== undefined) return { type: 'legacy', gasPrice }
  if (maxFeePerGas !== undefined)
    return {
      type: 'eip1559',
      maxFeePerGas,
      maxPriorityFeePerGas: maxPriorityFeePerGas ?? maxFeePerGas,
    }
  const fees = await estimateFeesPerGas(client, {
    chain: client.chain,
    ...(maxPriorityFeePerGas === undefined
      ? {}
      : { request: { maxPriorityFeePerGas } as never }),
  }).catch((error: unknown) => {
    throw new NodeError({ method: 'eth_gasPrice', failure: readFailure(error) })
  })
  return { type: 'eip1559', ...fees }
}

/** A quarter above what the rehearsal used, never the node's own estimate. */
export function gasLimit(
  rehearsal: Rehearsal | undefined,
  maxGas: bigint,
): bigint {
  const used = rehearsal?.at.gasUsed
  if (used === undefined) return maxGas
  const limit = (used * 125n) / 100n
  return limit < maxGas ? limit : maxGas
}

export function pickFees({
  maxFeePerGas,
  maxPriorityFeePerGas,
  gasPrice,
}: SendOptions): CallFees {
  return { maxFeePerGas, maxPriorityFeePerGas, gasPrice }
}

export function hasFees({ maxFeePerGas, gasPrice }: SendOptions): boolean {
  return maxFeePerGas !== undefined || gasPrice !== undefined
}
