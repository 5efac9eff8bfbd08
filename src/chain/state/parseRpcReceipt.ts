import type { Address, Hash, Hex } from 'viem'
import { same } from '../../core/receiptProof.js'
import { parseRpcLog } from '../logs/parseRpcLog.js'
import { namesBlock } from '../logs/standsInBlock.js'
import type { ReadLog } from '../logs/types.js'
import { NodeAnswerError } from '../rpc/errors.js'

/** The fields that OP-stack chains add to a receipt. */
type OpStackReceiptFields = {
  /** Wei paid for storing the transaction on L1. */
  l1Fee?: bigint
  l1GasUsed?: bigint
  l1GasPrice?: bigint
  l1BlobBaseFee?: bigint
  l1BaseFeeScalar?: bigint
  l1BlobBaseFeeScalar?: bigint
  operatorFeeScalar?: bigint
  operatorFeeConstant?: bigint
  daFootprintGasScalar?: bigint
  /** Only on deposits from L1. */
  depositNonce?: bigint
  depositReceiptVersion?: bigint
}

/**
 * A receipt, its quantities as `bigint` and its addresses in lower case;
 * unknown members stay as they came.
 */
export type ReadReceipt = OpStackReceiptFields & {
  transactionHash: Hash
  transactionIndex: number
  /** Absent while the transaction is only pre-confirmed. */
  blockHash: Hash | undefined
  blockNumber: bigint
  from: Address
  to: Address | null
  contractAddress: Address | null
  /** Absent in blocks older than Byzantium, which have a `root` instead. */
  status: 'success' | 'reverted' | undefined
  /**
   * Transaction type as hex; `0x7e` is a deposit. Absent on nodes without typed
   * transactions.
   */
  type: Hex | undefined
  gasUsed: bigint
  cumulativeGasUsed: bigint
  /** Wei per gas. Absent on nodes older than London. */
  effectiveGasPrice: bigint | undefined
  /**
   * Blob gas of the transaction; on chains that limit data availability, its
   * data footprint.
   */
  blobGasUsed?: bigint
  blobGasPrice?: bigint
  logs: readonly ReadLog[]
  /** Absent on nodes that do not store it. */
  logsBloom: Hex | undefined
  /** True when the transaction was seen in a block that is not complete yet. */
  preconfirmed: boolean
  [unknown: string]: unknown
}

const quantities = [
  'blockNumber',
  'gasUsed',
  'cumulativeGasUsed',
  'effectiveGasPrice',
  'blobGasUsed',
  'blobGasPrice',
  'l1Fee',
  'l1GasUsed',
  'l1GasPrice',
  'l1BlobBaseFee',
  'l1BaseFeeScalar',
  'l1BlobBaseFeeScalar',
  'operatorFeeScalar',
  'operatorFeeConstant',
  'daFootprintGasScalar',
  'depositNonce',
  'depositReceiptVersion',
  'blockTimestamp',
] as const

const required = ['blockNumber', 'gasUsed', 'cumulativeGasUsed'] as const

const isHex = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[\da-f]*$/i.test(value)

const isHash = (value: unknown): value is Hash =>
  isHex(value) && value.length === 66

const isAddress = (value: unknown): value is Address =>
  isHex(value) && value.length === 42

/**
 * Parses a receipt.
 *
 * @throws {@link NodeAnswerError} when a member every receipt has is malformed.
 */
export function parseRpcReceipt(answer: unknown, method: string): ReadReceipt {
  if (typeof answer !== 'object' || !answer || Array.isArray(answer))
    fail(method, 'holds no receipt')
  const receipt: Given = { ...(answer as Given) }
  for (const name of quantities) {
    const value = receipt[name]
    if (value === undefined) continue
    if (value === null) delete receipt[name]
    else if (isQuantity(value)) receipt[name] = BigInt(value)
    else fail(method, `holds a malformed ${name}`)
  }
  for (const name of required)
    if (receipt[name] === undefined) fail(method, `holds no ${name}`)

  const { transactionIndex, blockHash, from, type, logsBloom } = receipt
  const { transactionHash } = receipt
  const preconfirmed = !namesBlock(blockHash)
  // Assigns one member at a time, which takes half as long as assigning an
  // object of them: a full block has hundreds of receipts.
  receipt.transactionHash = expect(
    transactionHash,
    isHash,
    'transactionHash',
    method,
  )
  receipt.transactionIndex = Number(
    expect(transactionIndex, isQuantity, 'transactionIndex', method),
  )
  receipt.blockHash = preconfirmed
    ? undefined
    : expect(blockHash, isHash, 'blockHash', method)
  receipt.from = expect(from, isAddress, 'from', method).toLowerCase()
  receipt.to = lowerCase(receipt.to, 'to', method)
  receipt.contractAddress = lowerCase(
    receipt.contractAddress,
    'contractAddress',
    method,
  )
  receipt.status = parseStatus(receipt.status, method)
  receipt.type = optional(type, 'type', method)
  receipt.logs = parseReceiptLogs(receipt as ReadReceipt, method)
  receipt.logsBloom = optional(logsBloom, 'logsBloom', method)
  receipt.preconfirmed = preconfirmed
  return receipt as ReadReceipt
}

type Given = Record<string, unknown>

function fail(method: string, problem: string): never {
  throw new NodeAnswerError({ method, problem })
}

function expect<value>(
  value: unknown,
  test: (value: unknown) => value is value,
  name: string,
  method: string,
): value {
  if (value === undefined) return fail(method, `holds no ${name}`)
  return test(value) ? value : fail(method, `holds a malformed ${name}`)
}

function optional(
  value: unknown,
  name: string,
  method: string,
): Hex | undefined {
  return value == null ? undefined : expect(value, isHex, name, method)
}

function lowerCase(
  value: unknown,
  name: string,
  method: string,
): string | null {
  if (value == null) return null
  return expect(value, isAddress, name, method).toLowerCase()
}

/** True for a hex quantity, and for a JSON number, which some nodes write. */
function isQuantity(value: unknown): value is string | number {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && /^0x[\da-f]{1,64}$/i.test(value)
}

function parseStatus(status: unknown, method: string): ReadReceipt['status'] {
  if (status == null) return undefined
  const code = isQuantity(status) ? Number(status) : undefined
  if (code === 1) return 'success'
  return code === 0 ? 'reverted' : fail(method, 'holds a malformed status')
}

function parseReceiptLogs(
  { logs, blockNumber, blockHash, transactionHash }: ReadReceipt,
  method: string,
): readonly ReadLog[] {
  if (!Array.isArray(logs)) return fail(method, 'holds no logs')
  return logs.map((answer) => {
    const log = parseRpcLog(answer, method)
    const isOwn =
      same(log.transactionHash, transactionHash) &&
      log.blockNumber === blockNumber &&
      (!blockHash || same(log.blockHash, blockHash))
    return isOwn
      ? log
      : fail(method, 'holds a log of another block or transaction')
  })
}
