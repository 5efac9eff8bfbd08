import {
  type AnswerRpc,
  asJson,
  asJsonList,
  type Json,
  RpcFault,
  toQuantity,
} from '../sequencer/devRpc.js'
import type { Sequencer } from '../sequencer/sequencer.js'

type InstalledFilter = {
  kind: 'logs' | 'blocks' | 'transactions'
  filter: Json
  /** Number of the last block whose logs the filter has returned. */
  seen: number
}

const kinds = {
  eth_newFilter: 'logs',
  eth_newBlockFilter: 'blocks',
  eth_newPendingTransactionFilter: 'transactions',
} as const

/**
 * Answers calls about filters (`eth_newFilter` and similar) here and not in the
 * node. The node's filters would also report blocks that the emulation mines
 * only to preview them, and then undoes.
 */
export function withBlockFilters(
  answer: AnswerRpc,
  sequencer: Pick<Sequencer, 'head'>,
): AnswerRpc {
  const filters = new Map<string, InstalledFilter>()
  let count = 0

  const find = (id: unknown): InstalledFilter => {
    const found = filters.get(String(id))
    if (found) return found
    throw new RpcFault({ code: -32000, message: 'filter not found' })
  }
  const getLogs = ({ filter }: InstalledFilter, range: Json = {}) =>
    answer('eth_getLogs', [{ ...filter, ...range }])

  return async (method, params) => {
    const [first] = params
    if (method in kinds) {
      const kind = kinds[method as keyof typeof kinds]
      const { number } = sequencer.head
      const id = toQuantity(++count)
      filters.set(id, { kind, filter: asJson(first), seen: number })
      return id
    }
    if (method === 'eth_uninstallFilter') return filters.delete(String(first))
    if (method === 'eth_getFilterLogs') return getLogs(find(first))
    if (method !== 'eth_getFilterChanges') return answer(method, params)

    const filter = find(first)
    const [from, to] = [filter.seen + 1, sequencer.head.number]
    if (filter.kind === 'transactions' || from > to) return []
    filter.seen = to
    if (filter.kind === 'logs') {
      const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) }
      return getLogs(filter, range)
    }
    const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at)
    const blocks = await Promise.all(
      numbers.map((number) =>
        answer('eth_getBlockByNumber', [toQuantity(number), false]),
      ),
    )
    return asJsonList(blocks).map(({ hash }) => hash)
  }
}
