import { decodeTokenLog } from '../../chain/logs/decodeTokenLog.js'
import { checkoutAddress } from '../../checkout/checkoutContracts.js'
import type { MerchantOrder } from '../../client/MerchantClient.js'
import { groupAmount, shortHex } from '../ui/format.js'
import type { ChainAnswer, RpcLog, RpcReceipt } from './chainAnswer.js'

export type ProofCheck = {
  key: string
  ok: boolean
  /** The statement that was checked. */
  title: string
  /** The value on the chain. */
  found: string
}

/** Compares the record of a settled order with the chain's answer. Pure. */
export function checkProof(
  order: MerchantOrder,
  { receipt, canonical }: ChainAnswer,
  symbol: string,
): ProofCheck[] {
  const settled = order.capture ?? order.cancellation
  if (!settled) return []
  if (!receipt)
    return [
      {
        key: 'receipt',
        ok: false,
        title: 'The transaction is on the chain',
        found: 'no receipt',
      },
    ]
  const checks = [
    check('status', 'The transaction succeeded', receipt.status === '0x1', {
      yes: 'status 1',
      no: `status ${Number(receipt.status)}`,
    }),
    check(
      'block',
      'Its block is part of the chain',
      same(receipt.blockHash, canonical?.hash) &&
        BigInt(receipt.blockNumber) === BigInt(settled.blockNumber),
      {
        yes: `block ${BigInt(receipt.blockNumber)}`,
        no: `the chain has another block ${settled.blockNumber}`,
      },
    ),
  ]
  return order.capture
    ? [
        ...checks,
        ...checkCapture({ order, capture: order.capture, receipt, symbol }),
      ]
    : [...checks, checkEvent(order, receipt, 'AuthorizationCanceled')]
}

function checkCapture({
  order,
  capture,
  receipt,
  symbol,
}: {
  order: MerchantOrder
  capture: NonNullable<MerchantOrder['capture']>
  receipt: RpcReceipt
  symbol: string
}): ProofCheck[] {
  const log = receipt.logs.find(
    (one) =>
      Number(one.logIndex) === capture.logIndex &&
      same(one.address, order.token),
  )
  const event = log && decodeTokenLog(log)
  // With a ceiling, the checkout contract pays the recipient.
  const isCeiling = order.kind === 'checkout'
  const isPaid =
    event?.name === 'Transfer' &&
    same(event.from, isCeiling ? checkoutAddress : order.payer) &&
    same(event.to, order.recipient) &&
    String(event.value) === order.value
  return [
    checkEvent(order, receipt, 'AuthorizationUsed'),
    check('transfer', transferTitle(isCeiling), isPaid, {
      yes: `${groupAmount(order.amount)} ${symbol}, log ${capture.logIndex}`,
      no: `no such transfer in log ${capture.logIndex}`,
    }),
    check(
      'order',
      'The transfer belongs to this payment',
      isPaid && isNext(order, receipt, capture.logIndex),
      {
        yes: 'no other event between the two',
        no: 'the two events do not match',
      },
    ),
    check(
      'submitter',
      'Sent by the submitter on record',
      same(receipt.from, capture.submitter),
      {
        yes: shortHex(receipt.from),
        no: receipt.from,
      },
    ),
  ]
}

function transferTitle(isCeiling: boolean): string {
  const from = isCeiling ? 'checkout contract' : 'payer'
  return `Transfer: ${from}, recipient and value`
}

function checkEvent(
  order: MerchantOrder,
  receipt: RpcReceipt,
  name: 'AuthorizationUsed' | 'AuthorizationCanceled',
): ProofCheck {
  const log = findEvent(order, receipt, name)
  return check(name, `${name}: payer and nonce`, log !== undefined, {
    yes: `log ${Number(log?.logIndex ?? 0)}`,
    no: 'no such event of this token',
  })
}

function findEvent(
  { token, payer, nonce }: MerchantOrder,
  { logs }: RpcReceipt,
  name: string,
): RpcLog | undefined {
  return logs.find((log) => {
    const event = same(log.address, token) ? decodeTokenLog(log) : undefined
    return (
      event !== undefined &&
      event.name !== 'Transfer' &&
      event.name === name &&
      same(event.authorizer, payer) &&
      same(event.nonce, nonce)
    )
  })
}

/**
 * True if no other authorization was used between the order's and the transfer.
 * Otherwise the transfer would belong to the other one.
 */
function isNext(
  order: MerchantOrder,
  receipt: RpcReceipt,
  transferIndex: number,
): boolean {
  const used = findEvent(order, receipt, 'AuthorizationUsed')
  if (!used) return false
  const from = Number(used.logIndex)
  return (
    !receipt.logs.some(
      (log) =>
        Number(log.logIndex) > from &&
        Number(log.logIndex) < transferIndex &&
        same(log.address, order.token) &&
        decodeTokenLog(log)?.name === 'AuthorizationUsed',
    ) && transferIndex > from
  )
}

function check(
  key: string,
  title: string,
  ok: boolean,
  { yes, no }: { yes: string; no: string },
): ProofCheck {
  return { key, title, ok, found: ok ? yes : no }
}

/** Ignores letter case, because nodes write hex in either case. */
function same(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.toLowerCase() === other?.toLowerCase()
}
