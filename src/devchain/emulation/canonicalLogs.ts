import {
  asJson,
  asJsonList,
  invalidParams,
  type Json,
  toQuantity,
} from '../sequencer/devRpc.js'
import { matchesFilter } from '../sequencer/logFilter.js'
import type { PendingView } from '../sequencer/pendingView.js'
import type { Sequencer } from '../sequencer/sequencer.js'
import { fillWording, providerWordings } from './providerWordings.js'

type LogSource = Pick<Sequencer, 'node' | 'head'>

/**
 * Answers `eth_getLogs` from finished blocks, without pre-confirmations.
 * Refuses the ranges that Reth (node software) refuses.
 */
export async function canonicalLogs(
  source: LogSource,
  filter: Json,
): Promise<unknown> {
  const { node, head } = source
  const given = { ...filter }
  for (const end of ['fromBlock', 'toBlock'])
    if (given[end] === 'pending') given[end] = 'latest'
  if (filter.blockHash !== undefined)
    return node.request('eth_getLogs', [given])

  const from = await blockNumberOf(source, given.fromBlock)
  const to = await blockNumberOf(source, given.toBlock)
  if (to > head.number) {
    const facts = { requested: to, head: head.number }
    throw invalidParams(fillWording(providerWordings.rethHead.text, facts))
  }
  const openEnd = given.toBlock === undefined || given.toBlock === 'latest'
  if (from > head.number && openEnd) return []
  if (from > to) throw invalidParams('invalid block range params')
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
  return node.request('eth_getLogs', [{ ...given, ...range }])
}

/**
 * Answers `eth_getLogs` as nodes of Base did with Flashblocks. Includes
 * pre-confirmed logs only with `toBlock: 'pending'`. If a log of a finished
 * block has the same position, the pre-confirmed one is left out.
 */
export async function logsWithPending(
  source: LogSource,
  filter: Json,
  view: PendingView | undefined,
): Promise<unknown> {
  const { fromBlock, toBlock } = filter
  if (filter.blockHash !== undefined) return canonicalLogs(source, filter)
  if (toBlock !== 'pending') {
    const isTag = typeof toBlock === 'string' && !toBlock.startsWith('0x')
    if (fromBlock === 'pending' && isTag) return []
    return canonicalLogs(source, filter)
  }
  const pending = (view?.logs ?? []).filter((log) => matchesFilter(log, filter))
  if (fromBlock === 'pending') return pending

  const range = { ...filter, toBlock: 'latest' }
  const canonical = asJsonList(await canonicalLogs(source, range))
  const seen = new Set(canonical.map(positionOf))
  return [...canonical, ...pending.filter((log) => !seen.has(positionOf(log)))]
}

export async function blockNumberOf(
  { node, head }: LogSource,
  block: unknown,
): Promise<number> {
  if (block === undefined || block === null) return head.number
  if (block === 'latest' || block === 'pending') return head.number
  if (block === 'earliest') return 0
  if (block !== 'safe' && block !== 'finalized') return Number(block)
  const params = [block, false]
  const found = await node.request('eth_getBlockByNumber', params)
  return Number(asJson(found).number)
}

function positionOf({ blockNumber, logIndex }: Json): string {
  return `${Number(blockNumber)}:${Number(logIndex)}`
}
