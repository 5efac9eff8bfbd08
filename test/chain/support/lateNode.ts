import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DevChain } from 'countersign/devchain'
import { type Hex, hexToNumber, numberToHex } from 'viem'
import type { Call } from './endpoint.js'

/** A node that knows each block only some time after the chain has it. */
export type LateNode = {
  url: string
  /**
   * From now on it is so many milliseconds behind, and takes so many to begin
   * with a call.
   */
  setLag(lag: Lag): void
  /** From now on this node has every block that the chain has by now. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

export type Lag = { behind: number; slow: number }

type Seen = { number: number; at: number }

/** Answers about newer blocks than this node has are empty. */
const placeOf: Readonly<Record<string, string>> = {
  eth_getTransactionReceipt: 'blockNumber',
  eth_getTransactionByHash: 'blockNumber',
  eth_getBlockByNumber: 'number',
  eth_getBlockByHash: 'number',
}

/** Starts nodes of one chain; what is sent to them reaches it at once. */
export async function startLateNodes(
  chain: DevChain,
  count: number,
): Promise<LateNode[]> {
  const ask = async (call: object): Promise<{ result?: unknown }> => {
    const response = await fetch(chain.urls.http, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
    })
    return (await response.json()) as { result?: unknown }
  }
  const blocks: Seen[] = []
  const look = async () => {
    const { result } = await ask({ method: 'eth_blockNumber', params: [] })
    const number = hexToNumber(result as Hex)
    const last = blocks.at(-1)
    if (number > (last?.number ?? -1))
      blocks.push({ number, at: last ? performance.now() : 0 })
  }
  await look()
  const headAt = (time: number): number =>
    blocks.filter(({ at }) => at <= time).at(-1)?.number ?? 0
  return Promise.all(
    Array.from({ length: count }, async () => {
      let lag: Lag = { behind: 0, slow: 0 }
      const answer = async (call: Call) => {
        if (call.method === 'eth_call')
          await new Promise((resolve) => setTimeout(resolve, lag.slow))
        await look()
        const head = headAt(performance.now() - lag.behind)
        const { result, ...rest } = await ask({
          ...call,
          params: atHead(call, head),
        })
        if (call.method === 'eth_blockNumber')
          return { ...rest, id: call.id, result: numberToHex(head) }
        const number = Object(result)[placeOf[call.method] ?? '']
        const isNewer = typeof number === 'string' && Number(number) > head
        return { ...rest, id: call.id, result: isNewer ? null : result }
      }
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        const asked = JSON.parse(Buffer.concat(chunks).toString())
        const answers = Array.isArray(asked)
          ? await Promise.all(asked.map(answer))
          : await answer(asked)
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answers))
      })
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      const { port } = server.address() as AddressInfo
      return {
        url: `http://127.0.0.1:${port}`,
        setLag: (next: Lag) => {
          lag = next
        },
        catchUp: async () => {
          await look()
          for (const block of blocks) block.at = 0
        },
        stop: async () => {
          server.closeAllConnections()
          await new Promise((done) => server.close(done))
        },
      }
    }),
  )
}

/** The parameters, with the head of this node in place of the chain's. */
function atHead({ method, params }: Call, head: number): unknown {
  const late = (value: unknown): unknown =>
    value === 'latest' || value === 'pending' ? numberToHex(head) : value
  if (method === 'eth_getLogs')
    return [params].flat().map((filter) => {
      const { toBlock, fromBlock } = Object(filter)
      if (toBlock === undefined) return filter
      return {
        ...Object(filter),
        fromBlock: late(fromBlock),
        toBlock: late(toBlock),
      }
    })
  return Array.isArray(params) ? params.map(late) : params
}
