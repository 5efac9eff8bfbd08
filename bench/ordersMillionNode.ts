import { createServer } from 'node:http'
import process from 'node:process'
import { numPayers } from './ordersMillionFill.js'

/**
 * A node in a process of its own. Passes requests on, and shows besides the
 * transfers that the filled database has proofs of; asked with GET, it counts
 * its requests.
 */
const [target = '', token = '', recipient = '', settled = '', perBlock = ''] =
  process.argv.slice(2)
const size = Number(perBlock)
const last = Number(settled)
const transfer =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Call = {
  method: string
  params: {
    topics?: (string | null)[]
    fromBlock?: string
    toBlock?: string
  }[]
}
type Answer = { result?: unknown }

const word = (number: number, length = 64) =>
  `0x${number.toString(16).padStart(length, '0')}`
const hex = (number: number) => `0x${number.toString(16)}`

/** The log of an order's capture, as it is on record. */
function logOf(n: number): object {
  const block = Math.floor((n - 1) / size) + 1
  const at = hex((n - 1) % size)
  return {
    address: token,
    topics: [
      transfer,
      word((n % numPayers) + 1),
      `0x${recipient.slice(2).padStart(64, '0')}`,
    ],
    data: word(1_000_000),
    blockNumber: hex(block),
    blockHash: word(block),
    transactionHash: word(n),
    transactionIndex: at,
    logIndex: at,
    removed: false,
  }
}

function shownTo({ method, params: [filter] }: Call): object[] {
  const isMeant =
    method === 'eth_getLogs' &&
    filter?.topics?.[0] === transfer &&
    filter.topics[2]?.endsWith(recipient.slice(2)) === true
  if (!isMeant) return []
  const first = Math.max(0, Number(filter.fromBlock) - 1) * size + 1
  const end = Math.min(last, Number(filter.toBlock) * size)
  const logs: object[] = []
  for (let n = first; n <= end; n++) if (n % 100 < 90) logs.push(logOf(n))
  return logs
}

let count = 0
const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(String(count))
    return
  }
  count++
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const answer = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const asked: Call | Call[] = JSON.parse(body)
  const answered: Answer | Answer[] = await answer.json()
  const answers = [answered].flat()
  for (const [at, call] of [asked].flat().entries()) {
    const own = answers[at]
    const shown = shownTo(call)
    if (own && shown.length > 0)
      own.result = [...shown, ...(Array.isArray(own.result) ? own.result : [])]
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(Array.isArray(answered) ? answers : answers[0]))
})

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
})
process.once('disconnect', () => process.exit())
