import { asJson, type Json } from './devRpc.js'

export function matchesFilter(log: Json, filter: unknown): boolean {
  const { address, topics } = asJson(filter)
  if (!matchesOne(log.address, address)) return false
  if (!Array.isArray(topics)) return true
  const found = Array.isArray(log.topics) ? log.topics : []
  return topics.every(
    (wanted, at) => isAny(wanted) || matchesOne(found[at], wanted),
  )
}

function isAny(wanted: unknown): boolean {
  const empty = Array.isArray(wanted) && wanted.length === 0
  return wanted === null || wanted === undefined || empty
}

function matchesOne(found: unknown, wanted: unknown): boolean {
  if (isAny(wanted)) return true
  const options: unknown[] = Array.isArray(wanted) ? wanted : [wanted]
  const text = String(found).toLowerCase()
  return options.some((option) => String(option).toLowerCase() === text)
}
