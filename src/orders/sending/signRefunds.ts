import type { Hex } from 'viem'
import { inTime } from '../../core/wait.js'
import { addTypes } from '../../payments/message/paymentTypedData.js'
import { SigningDeclinedError } from '../../payments/sign/errors.js'
import { signWithWallet } from '../../payments/sign/signWithWallet.js'
import { LeaseLostError } from '../../store/errors.js'
import type {
  OrdersContext,
  OrderWallet,
  RefundSigner,
} from '../context/types.js'
import { limitTo } from '../loop/limitTo.js'
import { refundPaymentOf } from '../model/paymentOf.js'
import type { RefundRow, StoredRefund } from '../model/storedOrder.js'
import { giveUpRefund, storeSigned } from '../model/writeRefund.js'
import { lateSigner } from './signDrafts.js'

type SigningBy = Parameters<RefundSigner['sign']>[1]

/** Most milliseconds that a caller waits for the signatures it requested. */
const longestWait = 1000

/** Most signatures of a wallet that are stored at the same time. */
const mostStored = 50

/** Signs refunds. Wallets sign at the same time, each one refund at a time. */
export function openRefundSigner(context: OrdersContext): RefundSigner {
  const signing = new Set<OrderWallet>()
  const storing = new Set<string>()
  return {
    storing,
    sign: async (refunds, by) => {
      const begun = context.wallets.flatMap((wallet) => {
        const own = refunds.filter((row) => isSignedBy(wallet, row))
        if (own.length === 0 || signing.has(wallet)) return []
        signing.add(wallet)
        const signed = signAll(context, wallet, { refunds: own, by, storing })
        return signed
          .finally(() => signing.delete(wallet))
          .then((stored) => Promise.all(stored))
      })
      if (begun.length)
        await inTime<unknown>(Promise.all(begun), longestWait, () => undefined)
    },
  }
}

/** True for the wallet of the account that pays the refund. */
function isSignedBy(
  { submitter: { chainId, account } }: OrderWallet,
  row: RefundRow,
): boolean {
  return chainId === row.chainId && account === row.recipient
}

/**
 * Signs the refunds of one wallet. Each gets its window just before it is
 * signed, so that a slow signer does not use up the windows of the rest. Stores
 * a signature while the next refund is signed, because the sealer may be slow.
 *
 * @returns a promise for each signature that is still being stored.
 */
async function signAll(
  context: OrdersContext,
  wallet: OrderWallet,
  {
    refunds,
    by,
    storing,
  }: { refunds: readonly RefundRow[]; by: SigningBy; storing: Set<string> },
): Promise<readonly Promise<void>[]> {
  const stored: Promise<void>[] = []
  const limit = limitTo(mostStored, longestWait)
  let isLost = false
  const put = (row: RefundRow, error: unknown) => {
    // Another process has taken over the lease, and signs the refunds.
    if (error instanceof LeaseLostError) isLost = true
    else by.put(row.id, error, { destination: row })
  }
  for (const row of refunds) {
    if (context.signal?.aborted || isLost) break
    try {
      const refund = await by.prepare(row)
      if (!refund) {
        by.clear(row.id)
        continue
      }
      const signature = await signOne(context, wallet, refund)
      storing.add(row.id)
      const { lease } = by
      const ended = limit(async () => {
        if (signature !== 'declined')
          await storeSigned(context, refund, { signature, lease })
        else
          await giveUpRefund(context, refund, {
            reason: 'signingDeclined',
            lease,
          })
      })
        .then(
          () => by.clear(row.id),
          (error: unknown) => put(row, error),
        )
        .finally(() => storing.delete(row.id))
      stored.push(ended)
    } catch (error) {
      put(row, error)
    }
  }
  return stored
}

async function signOne(
  { policy: { signTimeout, walletTimeout } }: OrdersContext,
  { client, account }: OrderWallet,
  { row, stored }: StoredRefund,
): Promise<Hex | 'declined'> {
  const timeout = account.type === 'local' ? signTimeout : walletTimeout
  const signer = { account, request: client.request }
  const typedData = addTypes(refundPaymentOf(row, stored.attempt))
  const signing = signWithWallet(signer, typedData, row.recipient)
  try {
    return await inTime(signing, timeout, () => {
      throw lateSigner(timeout)
    })
  } catch (error) {
    if (error instanceof SigningDeclinedError) return 'declined'
    throw error
  }
}
