import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

/**
 * A node in a process of its own that answers reads from memory: five Transfer
 * logs a block, as many blocks as are asked for, addresses that differ.
 */
const logsPerBlock = 5
const signature =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const zeros = '0'.repeat(24)
const pool = randomBytes(20 * 65_536).toString('hex')
const bloom = '0'.repeat(512)

/** One of 65,536 addresses, in an order that does not repeat soon. */
function addressAt(index: number): string {
  const at = (Math.imul(index, 40_503) & 0xffff) * 40
  return pool.slice(at, at + 40)
}

const quantity = (value: number): string => `0x${value.toString(16)}`
const word = (value: number): string =>
  `0x${value.toString(16).padStart(64, '0')}`

function logText(block: number, place: number, transaction: number): string {
  const seed = block * logsPerBlock + place
  return `{"address":"${token}","topics":["${signature}","0x${zeros}${addressAt(2 * seed)}","0x${zeros}${addressAt(2 * seed + 1)}"],"data":"${word(1_000_000 + seed)}","blockHash":"${word(block + 1)}","blockNumber":"${quantity(block)}","blockTimestamp":"${quantity(1_700_000_000 + 2 * block)}","transactionHash":"${word(block * 1024 + transaction + 1)}","transactionIndex":"${quantity(transaction)}","logIndex":"${quantity(place)}","removed":false}`
}

function rangeText(first: number, last: number): string {
  const logs: string[] = []
  for (let block = first; block <= last; block++)
    for (let place = 0; place < logsPerBlock; place++)
      logs.push(logText(block, place, place))
  return `[${logs.join()}]`
}

/** A block's receipts as on an OP-stack chain; 0, 2, 3, 5, … logs each. */
function receiptsText(block: number, count: number): string {
  let place = 0
  const receipts = Array.from({ length: count }, (_, transaction) => {
    const logs = Array.from({ length: transaction % 2 ? 3 : 2 }, () =>
      logText(block, place++, transaction),
    )
    return `{"type":"0x2","status":"0x1","cumulativeGasUsed":"${quantity(60_000 * (transaction + 1))}","logs":[${logs.join()}],"logsBloom":"0x${bloom}","transactionHash":"${word(block * 1024 + transaction + 1)}","transactionIndex":"${quantity(transaction)}","blockHash":"${word(block + 1)}","blockNumber":"${quantity(block)}","gasUsed":"0xea60","effectiveGasPrice":"0x5f5e100","from":"0x${addressAt(transaction)}","to":"${token}","contractAddress":null,"l1GasPrice":"0x3b9aca00","l1GasUsed":"0x640","l1Fee":"0x174876e800","l1BaseFeeScalar":"0x8dd","l1BlobBaseFee":"0x1","l1BlobBaseFeeScalar":"0x101c12"}`
  })
  return `[${receipts.join()}]`
}

const kept = new Map<string, Buffer>()

/** The first answers are made once and kept, so that serving them is quick. */
function keep(key: string, make: () => string): Buffer {
  const bytes = kept.get(key) ?? Buffer.from(make(), 'latin1')
  if (kept.size < 64) kept.set(key, bytes)
  return bytes
}

/** The header of a block: a read of logs asks for the last one of its range. */
function headerText(block: number): string {
  return `{"number":"${quantity(block)}","hash":"${word(block + 1)}","parentHash":"${word(block)}","timestamp":"${quantity(1_700_000_000 + 2 * block)}","logsBloom":"0x${bloom}","gasLimit":"0x3938700","gasUsed":"0x493e0","baseFeePerGas":"0x5f5e100","miner":"${token}","transactions":[]}`
}

type Call = { id: number; method: string; params: readonly unknown[] }

/** Returns nothing for a method that this node does not know. */
function answer({ method, params: [first] }: Call): Buffer | undefined {
  switch (method) {
    case 'eth_getBalance':
      return keep(method, () => '"0xde0b6b3a7640000"')
    case 'eth_getTransactionCount':
      return keep(method, () => '"0x2a"')
    case 'eth_getLogs': {
      const { fromBlock, toBlock } = first as Record<string, string>
      return keep(`${fromBlock} ${toBlock}`, () =>
        rangeText(Number(fromBlock), Number(toBlock)),
      )
    }
    case 'eth_getBlockReceipts':
      // The first blocks hold as many transactions as their numbers say.
      return keep(`receipts ${first}`, () =>
        receiptsText(Number(first), Math.min(Number(first), 300)),
      )
    case 'eth_getBlockByNumber':
      return keep(`header ${first}`, () => headerText(Number(first)))
    default:
      return undefined
  }
}

let requests = 0
const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(String(requests))
    return
  }
  requests++
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body: Call | readonly Call[] = JSON.parse(
    Buffer.concat(chunks).toString(),
  )
  const calls = 'method' in body ? [body] : body
  const parts: Buffer[] = []
  for (const call of calls) {
    const result = answer(call)
    const member = result
      ? '"result":'
      : `"error":{"code":-32601,"message":"The node of the bench has no ${call.method}."}`
    parts.push(
      Buffer.from(`,{"jsonrpc":"2.0","id":${call.id},${member}`),
      result ?? Buffer.of(),
      Buffer.from('}'),
    )
  }
  const bytes = Buffer.concat(
    'method' in body ? parts : [...parts, Buffer.from(']')],
  )
  // The first comma parts nothing: it opens a batch, or is left out.
  bytes.write('[')
  response.setHeader('content-type', 'application/json')
  response.end('method' in body ? bytes.subarray(1) : bytes)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.send?.(address?.port)
})
process.on('disconnect', () => process.exit())
