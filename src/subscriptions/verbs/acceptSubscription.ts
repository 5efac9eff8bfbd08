import type { Hex } from 'viem'
import { formatAmount } from '../../core/amount.js'
import { checkMembers } from '../../core/checkMembers.js'
import { hashHex } from '../../core/keccak.js'
import { normalizeSignature } from '../../core/signature.js'
import {
  applyTaken,
  clientOf,
  mostTries,
  rulesOf,
  sealContextOf,
  writeChanges,
} from '../../orders/engine.js'
import { writeAgain } from '../../store/writeAgain.js'
import { findPeriod } from '../permission/periodAt.js'
import { decodePermission } from '../permission/permissionJson.js'
import type {
  SpendPermissionRefusal,
  SpendPermissionVerdict,
} from '../permission/verdict.js'
import { verifySpendPermission } from '../permission/verifySpendPermission.js'
import {
  type StoredSubscription,
  type Subscription,
  showSubscription,
} from '../schedule/showSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'

/** Parameters of `accept`. */
export type AcceptSubscriptionParameters = {
  subscriptionId: string
  /** The payer's signature of the permission. */
  signature: Hex
}

/** The active subscription, or why the signature was not accepted. */
export type AcceptSubscriptionVerdict =
  | { ok: true; subscription: Subscription }
  | {
      ok: false
      reason: SpendPermissionRefusal | 'notOpen' | 'tooManyTries'
      details: Readonly<Record<string, unknown>>
      subscription: Subscription
    }

/** Implements `accept` of `Subscriptions`. */
export async function acceptSubscription(
  subscriptions: SubscriptionsContext,
  parameters: AcceptSubscriptionParameters,
): Promise<AcceptSubscriptionVerdict> {
  checkMembers(parameters, ['subscriptionId', 'signature'])
  const { context } = subscriptions
  const id = parseSubscriptionId(parameters.subscriptionId)
  const signature = normalizeSignature(parameters.signature)
  const found = await context.store.read((tables) =>
    loadSubscription(tables, context, id),
  )
  if (signature === undefined) return refuse(found, 'malformedSignature')
  const hash = hashHex(signature, context.keccak256)
  const known = checkKnown(found, hash)
  if (known) return known
  if (found.held.order.tries >= mostTries) return refuse(found, 'tooManyTries')
  const verdict = await judge(subscriptions, found, signature)
  if (!verdict.ok) {
    await countTry(context, id)
    return refuse(found, verdict.reason, verdict.details)
  }
  const { order, attempt } = found.held
  // Encrypts before the database transaction begins: the sealer may call a key
  // service, and the transaction must not wait for it.
  const sealed = await context.sealer.seal(
    signature,
    sealContextOf('payment', order, attempt),
  )
  // An order's stored cancellation must have a signature. The spender revokes a
  // permission without one, so an empty signature is stored.
  const revocation = await context.sealer.seal(
    '0x',
    sealContextOf('cancellation', order, attempt),
  )
  const { message } = decodePermission(found.row.permission)
  const { time } = verdict.at
  const current = findPeriod(message, time)?.number ?? 1n
  return writeAgain(context, async (tables) => {
    const now = await loadSubscription(tables, context, id)
    const late = checkKnown(now, hash)
    if (late) return late
    const { validAfter, validBefore } = now.held.attempt
    const signed = {
      ...now.held.attempt,
      signedAfter: validAfter,
      signedBefore: validBefore,
      signatureHash: hash,
      signature: sealed,
      cancellation: revocation,
    }
    const { payer } = now.row
    const { submitter } = now.held.order
    const rules = rulesOf(context)
    const changes = applyTaken(
      now.held,
      { kind: 'accept', attempt: signed, payer, submitter, isHeld: false },
      rules,
    )
    const row = {
      ...now.row,
      // The payer does not owe periods that ended before the signature, so the
      // schedule begins with the current one.
      period: current - 1n,
      due: 0n,
    }
    const [order = now.held.order] = await writeChanges(
      tables,
      changes,
      rules.at,
    )
    await tables.subscriptions.update([row])
    return accept({ row, held: { ...now.held, order } })
  })
}

/**
 * Counts a refused signature, so that nobody who has the link can cause requests
 * to the node without end.
 */
function countTry(
  context: SubscriptionsContext['context'],
  id: string,
): Promise<void> {
  return writeAgain(context, async (tables) => {
    const { order } = (await loadSubscription(tables, context, id)).held
    await tables.orders.update([{ ...order, tries: order.tries + 1 }])
  })
}

function judge(
  { context, kind }: SubscriptionsContext,
  { row, held: { order } }: StoredSubscription,
  signature: Hex,
): Promise<SpendPermissionVerdict> {
  const permission = decodePermission(row.permission)
  const { domain, message } = permission
  const { account, spender, token, allowance, period } = message
  const { implementations, factories, maxGas } = kind.limits
  return verifySpendPermission(clientOf(context, row), {
    permission,
    signature,
    expect: {
      chainId: domain.chainId,
      manager: domain.verifyingContract,
      account,
      spender,
      token,
      allowance: formatAmount(allowance, order.decimals),
      amount:
        row.price === undefined
          ? undefined
          : formatAmount(row.price, order.decimals),
      period,
    },
    maxChargeGas: maxGas,
    implementations,
    factories,
    now: context.now() / 1000n,
  })
}

/**
 * Returns the verdict if the subscription already has a signature or has ended.
 */
function checkKnown(
  found: StoredSubscription,
  hash: Hex,
): AcceptSubscriptionVerdict | undefined {
  const { order, attempt } = found.held
  if (order.state === 'drafted') return undefined
  const isSame = order.state === 'stored' && attempt.signatureHash === hash
  return isSame ? accept(found) : refuse(found, 'notOpen')
}

function accept(found: StoredSubscription): AcceptSubscriptionVerdict {
  return { ok: true, subscription: showSubscription(found) }
}

function refuse(
  found: StoredSubscription,
  reason: SpendPermissionRefusal | 'notOpen' | 'tooManyTries',
  details: Readonly<Record<string, unknown>> = {},
): AcceptSubscriptionVerdict {
  return { ok: false, reason, details, subscription: showSubscription(found) }
}
