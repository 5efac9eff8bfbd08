import type { Hex } from 'viem'
import { hashHex } from '../../core/keccak.js'
import type { Lease } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { moveOrder, noChanges, writeChanges } from './changes.js'
import { sealContextOf } from './paymentOf.js'
import type { StoredRefund } from './storedOrder.js'
import type { OrdersContext } from './types.js'

/**
 * Encrypts and stores the signature of a refund; the submitter then sends it.
 * Returns `false` if the refund changed since it was loaded.
 */
export async function storeSigned(
  context: OrdersContext,
  { row, stored: { attempt } }: StoredRefund,
  { signature, lease }: { signature: Hex; lease?: Lease | undefined },
): Promise<boolean> {
  const { validAfter, validBefore, number } = attempt
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
  const moved = moveOrder(
    row,
    'accept',
    'stored',
    {
      type: 'accepted',
      at: context.now(),
      data: {
        payer: row.recipient,
        attempt: number,
        validBefore: String(validBefore),
      },
    },
    {
      sendDue: 0n,
      lookDue: validBefore,
      deadline: validBefore,
      reason: undefined,
    },
  )
  return writeAgain(
    context,
    async (tables) => {
      const [current] = await tables.orders.find({ ids: [row.id] })
      if (current?.version !== row.version) return false
      await writeChanges(tables, {
        ...noChanges(),
        orders: [moved.order],
        attempts: [signed],
        events: [moved.event],
      })
      return true
    },
    { lease },
  )
}
