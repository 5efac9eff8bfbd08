import { asJson, type Json, toQuantity } from './devRpc.js'

/**
 * Adds the extension fields of 200 ms blocks: `timestampMs` to blocks and
 * `blockTimestampMs` to transactions and logs, also those inside receipts,
 * never to a receipt itself. Blocks of unknown milliseconds stay as they are.
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
