import { getKeyStatus } from '../../batches/keys/keyStatus.js'
import type { Permission } from '../../batches/keys/permission.js'
import { permissionIn } from '../../batches/keys/permissionIn.js'
import { requestNode } from '../../chain/rpc/requestNode.js'
import { CountersignError } from '../../core/CountersignError.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import type { OrderRecord, TransactionRecord } from '../../store/types.js'
import type { SubmitterState } from '../account/submitterState.js'
import { capturesByKey } from '../model/sendersOf.js'
import { recallKeyFault } from '../sending/findKeyFault.js'

type Reverted = { row: TransactionRecord; receipt: ProofReceipt }

/**
 * True when a capture failed because the permission that it used did not work:
 * then it is no fault of the payment, which is sent again. The key may have
 * another permission by now.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer.
 */
export async function failsByKey(
  { wallet, reader }: Pick<SubmitterState, 'wallet' | 'reader'>,
  { row, receipt }: Reverted,
  order: OrderRecord,
): Promise<boolean> {
  const { key } = wallet
  const isByKey = row.kind === 'capture' && capturesByKey(wallet, order)
  if (!key || !isByKey) return false
  // Saves requests where many transactions of a dead key revert.
  if (recallKeyFault(key)) return true
  const method = 'eth_getTransactionByHash'
  const sent = await requestNode(reader, method, [receipt.transactionHash])
  const used = permissionIn(Object(sent).input, key.chainId) ?? key
  return (await getStatusAt(reader, used, receipt)) !== 'active'
}

/** Asks about the newest block if the node no longer has that state. */
async function getStatusAt(
  reader: SubmitterState['reader'],
  used: Permission,
  { blockNumber }: ProofReceipt,
): Promise<string> {
  try {
    return await getKeyStatus(reader, used, blockNumber)
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    return getKeyStatus(reader, used)
  }
}
