import type { Hex } from 'viem'
import { hashHex, type Keccak256 } from '../../core/keccak.js'
import type { Lease, PaymentStore, Sealer } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { applyTaken, rulesOf } from './apply.js'
import { writeChanges } from './changes.js'
import { sealContextOf } from './paymentOf.js'
import type { StoredRefund } from './storedOrder.js'
import type { HasClock, SettledPolicy } from './types.js'

/**
 * Encrypts and stores the signature of a refund; the submitter then sends it.
 * Returns `false` if the refund changed since it was loaded.
 */
export async function storeSigned(
  context: HasClock & {
    policy: SettledPolicy
    store: PaymentStore
    sealer: Sealer
    keccak256: Keccak256
  },
  { row, stored: { attempt } }: StoredRefund,
  { signature, lease }: { signature: Hex; lease?: Lease | undefined },
): Promise<boolean> {
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
  const rules = rulesOf(context)
  const changes = applyTaken(
    { order: row, attempt, proofs: [] },
    {
      kind: 'accept',
      attempt: signed,
      payer: row.recipient,
      submitter: row.submitter,
      isHeld: false,
    },
    rules,
  )
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
