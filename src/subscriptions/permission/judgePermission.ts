import { type Address, decodeErrorResult, type Hex } from 'viem'
import { isTrue, isWord, readWord } from '../../chain/state/executor.js'
import type { CallAnswer } from '../../chain/state/types.js'
import { parseAmount } from '../../core/amount.js'
import { parseRefusal } from '../../core/revertReason.js'
import type { VerifiedAt } from '../../core/types.js'
import type { ParsedPermissionExpectation } from './checkPermission.js'
import type { RehearsedPermission } from './rehearsePermission.js'
import { spendPermissionAbi as abi } from './spendPermissionAbi.js'
import { hashSpendPermission } from './spendPermissionTypedData.js'
import type { SpendPermission } from './types.js'
import type {
  SpendPermissionProblem,
  SpendPermissionVerdict,
} from './verdict.js'
import type { WalletCode } from './walletCode.js'

export type JudgeOptions = {
  expect: ParsedPermissionExpectation
  maxGas: bigint
  implementations: readonly Address[]
  factories: readonly Address[]
}

/**
 * Token units of the first charge. The token's decimals are not read yet here.
 * The ratio of `amount` to `allowance` gives the units, because the allowance
 * is known both in units (in the message) and in whole tokens.
 */
export function firstValue(
  { message }: SpendPermission,
  { amount, allowance }: ParsedPermissionExpectation,
): bigint {
  if (amount === undefined) return message.allowance
  const places = allowance.split('.')[1]?.length ?? 0
  const unscaled = parseAmount(allowance, places)
  const factor = message.allowance / unscaled
  const decimals = places + Math.max(String(factor).length - 1, 0)
  return parseAmount(amount, decimals)
}

/**
 * Compares the results of a simulation with the merchant's expectation. If
 * several checks fail, the verdict names the first: manager, wallet, approval,
 * charge.
 */
export function judgePermission(
  permission: SpendPermission,
  rehearsed: RehearsedPermission,
  options: JudgeOptions,
): SpendPermissionVerdict {
  const { head } = rehearsed.answers
  const at: VerifiedAt = {
    block: head.number,
    time: head.timestamp,
    via: head.via,
  }
  const problem =
    checkManager(permission, rehearsed, options) ??
    checkWallet(permission, rehearsed, options) ??
    checkApproval(rehearsed) ??
    checkCharge(permission, rehearsed, options)
  if (problem) return { ok: false, ...problem, at }
  const isCharged = isChargeRehearsed(permission, rehearsed)
  return { ok: true, at, rehearsed: isCharged ? 'charge' : 'approval' }
}

function checkManager(
  permission: SpendPermission,
  { answers }: RehearsedPermission,
  { expect }: JudgeOptions,
): SpendPermissionProblem | undefined {
  const { head, calls } = answers
  const { domain, message } = permission
  if (head.chainId !== domain.chainId)
    return {
      reason: 'wrongChain',
      details: { found: domain.chainId, expected: head.chainId },
    }
  const isManager =
    calls.manager.hasCode &&
    isWord(calls.hash) &&
    calls.hash.data === hashSpendPermission(permission)
  if (!isManager) return problemOf('unsupportedManager')
  if (head.timestamp >= message.end)
    return { reason: 'expired', details: { end: message.end } }
  if (readWord(calls.revoked, 'state of the permission') !== 0n)
    return problemOf('revoked')
  if (!isWord(calls.decimals))
    return { reason: 'wrongToken', details: { found: message.token } }
  const allowance = parseAmount(expect.allowance, Number(calls.decimals.data))
  return message.allowance === allowance
    ? undefined
    : {
        reason: 'wrongAllowance',
        details: { found: message.allowance, expected: allowance },
      }
}

function checkWallet(
  { message }: SpendPermission,
  { answers, wallet, deployment }: RehearsedPermission,
  { implementations, factories }: JudgeOptions,
): SpendPermissionProblem | undefined {
  if (wallet.kind !== 'none')
    return checkImplementation(wallet, implementations)
  if (!deployment) return problemOf('walletNotDeployed')
  const { factory } = deployment
  if (!factories.includes(factory))
    return { reason: 'unknownFactory', details: { factory } }
  const { predicted } = answers.calls
  const address = isWord(predicted) ? `0x${predicted.data.slice(26)}` : 'none'
  return address === message.account
    ? undefined
    : {
        reason: 'wrongAccount',
        details: { found: message.account, expected: address },
      }
}

/**
 * Accepts only wallets with known code. The manager calls the wallet, and
 * unknown code could do anything in that call.
 */
function checkImplementation(
  wallet: WalletCode,
  implementations: readonly Address[],
): SpendPermissionProblem | undefined {
  if (wallet.kind !== 'proxy') return problemOf('unknownWallet')
  const { implementation } = wallet
  return implementations.includes(implementation)
    ? undefined
    : { reason: 'unknownWallet', details: { implementation } }
}

function checkApproval({
  answers,
  wallet,
}: RehearsedPermission): SpendPermissionProblem | undefined {
  const [approval, rehearsedOwner] = answers.steps
  if (!approval?.ok) {
    const refusal = refusalOf(approval)
    const lacksVerifier =
      wallet.kind === 'none' && !answers.calls.verifier.hasCode
    return refusal.reason === 'wrongSigner' && lacksVerifier
      ? problemOf('verifierNotDeployed')
      : refusal
  }
  // The manager does not revert for a revoked permission: it returns false.
  if (!isTrue(approval)) return problemOf('revoked')
  // A node without state overrides simulates only the approval. If the wallet
  // is not deployed yet, nothing then shows whether the manager is one of its
  // owners.
  const isOwner = rehearsedOwner
    ? isTrue(rehearsedOwner)
    : wallet.kind === 'none' ||
      readWord(answers.calls.owner, 'owner of the wallet') !== 0n
  return isOwner ? undefined : problemOf('managerNotOwner')
}

function isChargeRehearsed(
  { message }: SpendPermission,
  { answers }: RehearsedPermission,
): boolean {
  return answers.head.timestamp >= message.start && answers.steps.length > 2
}

function checkCharge(
  permission: SpendPermission,
  rehearsed: RehearsedPermission,
  { expect, maxGas }: JudgeOptions,
): SpendPermissionProblem | undefined {
  const { answers } = rehearsed
  const { calls, head } = answers
  if (head.timestamp < permission.message.start) return undefined
  const value = firstValue(permission, expect)
  if (!isChargeRehearsed(permission, rehearsed))
    return readWord(calls.funds, 'balance of the payer') < value
      ? problemOf('insufficientFunds')
      : undefined
  const [, , charge, after] = answers.steps
  if (!charge?.ok) return chargeRefusal(charge, maxGas)
  const isPaid =
    after !== undefined &&
    isWord(after) &&
    isWord(calls.balance) &&
    BigInt(after.data) - BigInt(calls.balance.data) === value
  return isPaid
    ? undefined
    : {
        reason: 'simulationFailed',
        details: { words: 'the spender did not receive the amount' },
      }
}

function chargeRefusal(
  charge: CallAnswer | undefined,
  maxGas: bigint,
): SpendPermissionProblem {
  const { gasUsed = 0n, data = '0x' } = Object(charge)
  // A nested call gets at most 63/64 of the gas (EIP-150), so running out of
  // gas uses slightly less than the limit.
  const isOutOfGas = data === '0x' && gasUsed * 64n >= maxGas * 62n
  return isOutOfGas ? problemOf('gasTooHigh') : refusalOf(charge)
}

const managerReasons: Readonly<
  Record<string, SpendPermissionProblem['reason']>
> = {
  InvalidSignature: 'wrongSigner',
  UnauthorizedSpendPermission: 'revoked',
  AfterSpendPermissionEnd: 'expired',
  ExceededSpendPermission: 'allowanceUsed',
  Unauthorized: 'managerNotOwner',
}

export function refusalOf(
  answer: Pick<CallAnswer, 'data' | 'words'> | undefined,
): SpendPermissionProblem {
  const { data = '0x', words } = Object(answer)
  const known = managerReasons[errorName(data) ?? '']
  if (known) return problemOf(known)
  const refusal = parseRefusal({ data, words })
  const details = refusal.words ? { words: refusal.words } : {}
  switch (refusal.reason) {
    case 'insufficientFunds':
    case 'paused':
    case 'blocked':
    case 'gasTooHigh':
    case 'wrongSigner':
      return { reason: refusal.reason, details }
    default:
      return { reason: 'simulationFailed', details }
  }
}

function errorName(data: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi, data }).errorName
  } catch {
    return undefined
  }
}

function problemOf(
  reason: SpendPermissionProblem['reason'],
): SpendPermissionProblem {
  return { reason, details: {} }
}
