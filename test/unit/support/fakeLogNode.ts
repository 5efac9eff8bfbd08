import { createClient, custom, RpcRequestError } from 'viem'

export const address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const topic = `0x${'ab'.repeat(32)}` as const

type Filter = { fromBlock?: string; toBlock?: string; blockHash?: string }
type Answer = (filter: Filter) => unknown

/** A node with one log a block, up to block 100, and no receipts. */
export const fakeNode = (answer: Answer = logsOf) => {
  const asked: Filter[] = []
  const client = createClient({
    transport: custom(
      {
        async request({ method, params }) {
          if (method === 'eth_blockNumber') return '0x64'
          if (method === 'eth_getBlockByNumber')
            return {
              number: '0x32',
              timestamp: '0x1',
              hash: `0x${'1'.repeat(64)}`,
              transactions: [`0x${'2'.repeat(64)}`],
            }
          if (/Receipt/.test(method)) refuse(-32601, 'no such method')
          asked.push(params[0])
          return answer(params[0])
        },
      },
      { retryCount: 0 },
    ),
  })
  return { client, asked }
}

export const rpcLog = (block: number, more: object = {}) => ({
  address,
  topics: [topic],
  data: '0x',
  blockNumber: `0x${block.toString(16)}`,
  blockHash: `0x${block.toString(16).padStart(64, '1')}`,
  transactionHash: `0x${block.toString(16).padStart(64, '2')}`,
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
  ...more,
})

export function logsOf({ fromBlock, toBlock }: Filter): object[] {
  const [first, last] = [Number(fromBlock), Number(toBlock)]
  return Array.from({ length: last - first + 1 }, (_, i) => rpcLog(first + i))
}

export function refuse(code: number, message: string): never {
  throw new RpcRequestError({ body: {}, url: '', error: { code, message } })
}

export const sizeOf = ({ fromBlock, toBlock }: Filter) =>
  Number(toBlock) - Number(fromBlock) + 1
