import type { Hex } from 'viem'
import { hashHex, type Keccak256 } from '../../core/keccak.js'
import type {
  Lease,
  OrderReason,
  PaymentStore,
  Sealer,
} from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import {
  type AttemptInput,
  applyTaken,
  type RowInput,
  rulesOf,
} from './apply.js'
import { writeChanges } from './changes.js'
import { sealContextOf } from './paymentOf.js'
import type { StoredRefund } from './storedOrder.js'
import type { HasClock, SettledPolicy } from './types.js'

type Writing = HasClock & { policy: SettledPolicy; store: PaymentStore }

/**
 * Encrypts and stores the signature of a refund; the submitter then sends it.
 * Returns `false` if the refund changed since it was loaded.
 */
export async function storeSigned(
  context: Writing & { sealer: Sealer; keccak256: Keccak256 },
  refund: StoredRefund,
  { signature, lease }: { signature: Hex; lease?: Lease | undefined },
): Promise<boolean> {
  const {
    row,
    stored: { attempt },
  } = refund
  const { validAfter, validBefore } = attempt
  // Encrypt before the database transaction begins, because a key service may
  // be slow.
  const sealed = await context.sealer.seal(
    signature,
    sealContextOf('payment', row, attempt),
  )
  const signed = {
    ...attempt,
    signedAfter: validAfter,
    signedBefore: validBefore,
    signatureHash: hashHex(signature, context.keccak256),
    spendableUntil: validBefore,
    spendable: true,
    signature: sealed,
  }
  const input = {
    kind: 'accept',
    attempt: signed,
    payer: row.recipient,
    submitter: row.submitter,
    isHeld: false,
  } as const
  return writeInput(context, refund, { input, lease })
}

/**
 * Marks a refund that was never signed as failed. Its amount can then be
 * refunded again, also by the same `refundId`. Does nothing if the refund
 * changed since it was loaded.
 */
export async function giveUpRefund(
  context: Writing,
  refund: StoredRefund,
  { reason, lease }: { reason: OrderReason; lease: Lease | undefined },
): Promise<void> {
  await writeInput(context, refund, {
    input: { kind: 'giveUp', reason },
    lease,
  })
}

function writeInput(
  context: Writing,
  { row, stored: { attempt } }: StoredRefund,
  {
    input,
    lease,
  }: { input: RowInput | AttemptInput; lease: Lease | undefined },
): Promise<boolean> {
  const rules = rulesOf(context)
  const changes = applyTaken({ order: row, attempt, proofs: [] }, input, rules)
  return writeAgain(
    context,
    async (tables) => {
      const [current] = await tables.orders.find({ ids: [row.id] })
      if (current?.version !== row.version) return false
      await writeChanges(tables, changes, rules.at)
      return true
    },
    { lease },
  )
}
