import type { Address, Client, Hex } from 'viem'
import { isTemporary } from '../../chain/rpc/classifyFailure.js'
import { NodeAnswerError, NodeError } from '../../chain/rpc/errors.js'
import { parseQuantity, tryRequest } from '../../chain/rpc/requestNode.js'
import { isWord, readWord } from '../../chain/state/executor.js'
import { formatAmount } from '../../core/amount.js'
import type { SettlingCall } from '../../payments/kind.js'
import { currentPeriod } from '../permission/getSpendPermission.js'
import { judgePermission } from '../permission/judgePermission.js'
import {
  rehearsePermission,
  usableSignature,
} from '../permission/rehearsePermission.js'
import {
  approveCall,
  type ManagerCall,
  revokeCall,
  spendCall,
} from '../permission/spendCalls.js'
import type { SpendPermission } from '../permission/types.js'
import type { SpendPermissionRefusal } from '../permission/verdict.js'
import type { ChargePayment } from './chargePayment.js'
import type { ChargeSearches } from './chargeSearches.js'

/** Wallet contracts that a charge may call, and the gas it may take. */
export type WalletLimits = {
  implementations: readonly Address[]
  factories: readonly Address[]
  /** Most gas that one charge may use. */
  maxGas: bigint
}

export type ChargeReason = Extract<SettlingCall, { ok: false }>['reason']

type RehearseChargeOptions = {
  signature: Hex
  limits: WalletLimits
  searches: ChargeSearches
  /** Token units that the database shows as charged in this period. */
  getKnown: () => Promise<bigint>
}

/**
 * Highest gas limit of an approval transaction, which may also deploy the
 * payer's wallet.
 */
const maxApprovalGas = 2_000_000n

/**
 * Simulates a charge with the manager's own code, and returns the next
 * transaction to send for it. That is the approval until the manager stores it,
 * and after that the charge itself.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, is on another chain, or is behind the period of the charge.
 */
export async function rehearseCharge(
  client: Client,
  payment: ChargePayment,
  { signature, limits, searches, getKnown }: RehearseChargeOptions,
): Promise<SettlingCall> {
  const { permission, chargeId } = payment
  const { message } = permission
  const { value, validAfter } = payment.message
  // The order that stores the permission is never charged itself.
  if (chargeId === undefined) return { ok: false, reason: 'simulationFailed' }
  const rehearsed = await rehearsePermission(client, {
    permission,
    signature,
    value,
    block: 'latest',
    maxGas: limits.maxGas,
  })
  const { approved, decimals } = rehearsed.answers.calls
  const places = isWord(decimals) ? Number(BigInt(decimals.data)) : 0
  const verdict = judgePermission(permission, rehearsed, {
    ...limits,
    expect: {
      spender: message.spender,
      token: message.token,
      allowance: formatAmount(message.allowance, places),
      amount: formatAmount(value, places),
      period: message.period,
      manager: permission.domain.verifyingContract,
      chainId: permission.domain.chainId,
    },
  })
  const { head, calls } = rehearsed.answers
  // The node's newest block is older than the period of this charge. At that
  // block the allowance of the period before applies, which may be used up.
  if (head.timestamp <= validAfter)
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: 'is of a block before the period of the charge',
    })
  const spent = currentPeriod(message, calls.last, head.timestamp)?.spent ?? 0n
  // The chain shows charges in this period that the database lacks. One of them
  // may be this very charge, so search for its transaction before sending.
  if (spent > 0n && spent !== (await getKnown())) {
    const hash = await searches.find(client, payment)
    if (hash !== undefined) return { ok: false, reason: 'consumed' }
  }
  if (!verdict.ok) return refuse(verdict.reason)
  if (readWord(approved, 'state of the permission') !== 0n)
    return withGas(client, message.spender, {
      call: spendCall(permission, { value, chargeId }),
      most: limits.maxGas,
    })
  const usable = usableSignature(signature, rehearsed.wallet)
  return withGas(client, message.spender, {
    call: approveCall({ permission, signature: usable }),
    most: maxApprovalGas,
  })
}

export function rehearseRevocation(
  client: Client,
  permission: SpendPermission,
  maxGas: bigint,
): Promise<SettlingCall> {
  return withGas(client, permission.message.spender, {
    call: revokeCall(permission),
    most: maxGas,
  })
}

async function withGas(
  client: Client,
  from: Address,
  { call, most }: { call: ManagerCall; most: bigint },
): Promise<SettlingCall> {
  const method = 'eth_estimateGas'
  const { result, failure } = await tryRequest(client, method, [
    { from, ...call },
  ])
  if (failure) {
    const isRevert = /revert|evm|gas|opcode/i.test(failure.words)
    if (isTemporary(failure) && !isRevert)
      throw new NodeError({ method, failure })
    return { ok: false, reason: 'simulationFailed' }
  }
  const used = parseQuantity(result, method)
  if (used > most) return { ok: false, reason: 'gasTooHigh' }
  return { ok: true, call, gas: (used * 5n) / 4n }
}

/**
 * Refusals of a permission that have another name among the reasons of orders.
 */
const otherNames: Partial<Record<SpendPermissionRefusal, ChargeReason>> = {
  blocked: 'payerBlocked',
  unknownWallet: 'walletRejects',
  managerNotOwner: 'walletRejects',
  unknownFactory: 'walletNotDeployed',
  verifierNotDeployed: 'walletNotDeployed',
}

const sameNames: readonly ChargeReason[] = [
  'malformedSignature',
  'wrongToken',
  'expired',
  'revoked',
  'wrongSigner',
  'walletNotDeployed',
  'allowanceUsed',
  'insufficientFunds',
  'paused',
  'gasTooHigh',
]

function refuse(reason: SpendPermissionRefusal): SettlingCall {
  // The chain id of the permission was checked when it was signed, so the node
  // must be on another chain. Throws a retryable error instead of refusing the
  // charge.
  if (reason === 'wrongChain')
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: 'is for another chain',
    })
  return { ok: false, reason: chargeReason(reason) }
}

export function chargeReason(reason: SpendPermissionRefusal): ChargeReason {
  const same = sameNames.find((one) => one === reason)
  return same ?? otherNames[reason] ?? 'simulationFailed'
}
