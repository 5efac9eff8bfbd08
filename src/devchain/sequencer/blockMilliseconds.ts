import { asJson, type Json, toQuantity } from './devRpc.js'

/**
 * Adds the time fields that Base has since its blocks take 200 ms:
 * `timestampMs` to blocks, and `blockTimestampMs` to transactions and logs.
 * Logs inside a receipt get it too, the receipt itself does not. If the
 * milliseconds of a block are not known, it stays unchanged.
 */
export function addMilliseconds(
  answer: unknown,
  sealedAt: ReadonlyMap<number, number>,
): unknown {
  if (Array.isArray(answer))
    return answer.map((one) => addMilliseconds(one, sealedAt))
  const object = asJson(answer)
  if (object !== answer) return answer
  const isBlock = 'parentHash' in object
  const number = isBlock ? object.number : object.blockNumber
  const ms = sealedAt.get(Number(number ?? Number.NaN))
  if (ms === undefined) return answer
  const nested = addToMembers(object, sealedAt)
  if (isBlock) return { ...nested, timestampMs: toQuantity(ms) }
  const isReceipt = 'cumulativeGasUsed' in object
  return isReceipt ? nested : { ...nested, blockTimestampMs: toQuantity(ms) }
}

function addToMembers(
  object: Json,
  sealedAt: ReadonlyMap<number, number>,
): Json {
  const copy = { ...object }
  for (const name of ['transactions', 'logs'])
    if (Array.isArray(copy[name]))
      copy[name] = addMilliseconds(copy[name], sealedAt)
  return copy
}
