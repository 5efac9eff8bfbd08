import { type Address, decodeEventLog, type Hash, type Hex } from 'viem'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { topics } from '../../core/tokenAbi.js'
import { word } from '../../core/words.js'
import { spendPermissionAbi as abi } from '../permission/spendPermissionAbi.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { SpendPermission } from '../permission/types.js'

/**
 * A charge of a permission, as the manager's event and the token's transfer
 * show it.
 */
export type PermissionUse = {
  /** Amount charged, in token units. */
  value: bigint
  /** First second of the period that the manager charged. */
  periodStart: bigint
  /** First second after the period that was charged. */
  periodEnd: bigint
  /**
   * Position in its block of the `Transfer` log with exactly this amount, which
   * proves that the tokens arrived. Absent if there is none: have a person
   * check this charge.
   */
  logIndex: number | undefined
}

/** `SpendPermissionUsed(bytes32,address,address,address,(uint48,uint48,uint160))`. */
export const usedTopic: Hash =
  '0xbcba65b462dfff1a0af642e2ccd28778c64fcb16da2132dabf6eee8906d6753c'

/** Topics of a log filter that finds all charges of a permission. */
export function usedTopics(permission: SpendPermission): Hex[] {
  const { account, spender } = permission.message
  return [
    usedTopic,
    hashSpendPermission(permission),
    `0x${word(account)}`,
    `0x${word(spender)}`,
  ]
}

type ProofLog = ProofReceipt['logs'][number]

/**
 * Finds the uses of a permission in a receipt. A charge is proven by two events
 * in this order: the manager's `SpendPermissionUsed` and, before the manager's
 * next one, the token's exact `Transfer` from the account to the spender. The
 * first event alone does not prove that tokens arrived.
 */
export function findUses(
  receipt: ProofReceipt,
  permission: SpendPermission,
): PermissionUse[] {
  if (receipt.status !== 'success') return []
  const manager = permission.domain.verifyingContract
  const { logs } = receipt
  return logs.flatMap((log, index) => {
    if (!isUse(log, permission)) return []
    const { periodSpend } = decodeUse(log)
    const rest = logs.slice(index + 1)
    const next = rest.findIndex(
      (one) => isFrom(one, manager) && same(one.topics[0], usedTopic),
    )
    const own = next < 0 ? rest : rest.slice(0, next)
    const transfer = own.find((one) =>
      isTransfer(one, permission, periodSpend.spend),
    )
    return [
      {
        value: periodSpend.spend,
        periodStart: BigInt(periodSpend.start),
        periodEnd: BigInt(periodSpend.end),
        logIndex: transfer?.logIndex ?? undefined,
      },
    ]
  })
}

function decodeUse({ data, topics: given }: ProofLog) {
  const [first, ...others] = given
  return decodeEventLog({
    abi,
    eventName: 'SpendPermissionUsed',
    data,
    topics: [first ?? usedTopic, ...others] as never,
  }).args
}

function isUse(log: ProofLog, permission: SpendPermission): boolean {
  const { verifyingContract } = permission.domain
  return (
    isFrom(log, verifyingContract) && hasTopics(log, usedTopics(permission))
  )
}

function isTransfer(
  log: ProofLog,
  { message }: SpendPermission,
  value: bigint,
): boolean {
  const { account, spender, token } = message
  const expected = [topics.transfer, `0x${word(account)}`, `0x${word(spender)}`]
  return (
    isFrom(log, token) &&
    hasTopics(log, expected) &&
    same(log.data, `0x${word(value)}`)
  )
}

function hasTopics(log: ProofLog, expected: readonly string[]): boolean {
  return (
    log.topics.length === expected.length &&
    expected.every((topic, index) => same(log.topics[index], topic))
  )
}

const isFrom = (log: ProofLog, address: Address): boolean =>
  same(log.address, address)

/** Ignores letter case, because nodes write hex in either. */
function same(found: string | undefined, expected: string): boolean {
  return found?.toLowerCase() === expected.toLowerCase()
}
