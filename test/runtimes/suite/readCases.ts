import { capturePayment, waitForOutcome } from 'countersign'
import { decodeTokenLog, type TokenEvent } from 'countersign/reads'
import { type Address, type Hex, padHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { sendTransaction, waitForTransactionReceipt } from 'viem/actions'
import { expectEqual } from './expectEqual.js'
import { signedPayment } from './signedPayment.js'
import type { Stage, StagedCase } from './types.js'

/** The four reads, of what is sealed and of what is pending. */
export const readCases: readonly StagedCase[] = [
  {
    name: 'getLogs and getBlockReceipts show a capture',
    run: async (stage) => {
      const { reader, token } = stage
      const { hash, block, events } = await captureOne(stage)
      const filter = { address: token, fromBlock: block, toBlock: block }
      const logs = await reader.getLogs(filter)
      expectEqual(logs.map(decodeTokenLog), events)
      const answer = await reader.getBlockReceipts({ block })
      expectEqual(
        answer.receipts.map(({ transactionHash }) => transactionHash),
        [hash],
      )
    },
  },
  {
    name: 'getBalance and getTransactionCount agree with the chain',
    run: async ({ reader, seller }) => {
      const to = someone()
      const address = seller.account.address
      const counts = () =>
        reader.getTransactionCount({ address, block: 'latest' })
      const before = await counts()
      const hash = await sendTransaction(seller, { to, value: 5n })
      await waitForTransactionReceipt(seller, { hash })
      const balance = await reader.getBalance({ address: to, block: 'latest' })
      expectEqual([balance, await counts()], [5n, before + 1])
    },
  },
  {
    name: 'streamLogs comes to the same as getLogs, in chunks',
    run: async (stage) => {
      const { reader, token } = stage
      const { block: toBlock } = await captureOne(stage)
      const fromBlock = toBlock > 8n ? toBlock - 8n : 0n
      const filter = { address: token, fromBlock, toBlock }
      const logs: unknown[] = []
      let next = fromBlock
      for await (const chunk of reader.streamLogs({
        ...filter,
        maxBlockRange: 3n,
      })) {
        expectEqual(chunk.fromBlock, next)
        next = chunk.cursor
        logs.push(...chunk.logs)
      }
      expectEqual([next, logs], [toBlock + 1n, await reader.getLogs(filter)])
    },
  },
  {
    name: 'what is pending is read before it is mined',
    run: async ({ reader, seller }) => {
      const to = someone()
      const balances = () =>
        Promise.all([
          reader.getBalance({ address: to, block: 'latest' }),
          reader.getBalance({ address: to, block: 'pending' }),
        ])
      await askNode(reader, 'evm_setAutomine', false)
      try {
        await sendTransaction(seller, { to, value: 7n })
        expectEqual(await balances(), [0n, 7n])
      } finally {
        await askNode(reader, 'evm_setAutomine', true)
        await askNode(reader, 'evm_mine')
      }
      expectEqual(await balances(), [7n, 7n])
    },
  },
  {
    name: 'watchLogs follows a payment that a WebSocket pushes',
    run: async (stage) => {
      const { reader, token, webSocket, payer } = stage
      const topics = [null, padHex(payer.account.address)]
      const seen = await new Promise<unknown[]>((resolve, reject) => {
        const end = (error: unknown): void => {
          unwatch()
          reject(error)
        }
        const unwatch = reader.watchLogs({
          address: token,
          topics,
          webSocket,
          // Only what is pushed can wake it.
          pollingInterval: 60_000,
          onEvent: (event) => {
            if (event.type === 'gap') return
            const told = decodeTokenLog(event.log)
            if (told?.name !== 'Transfer') return
            unwatch()
            resolve([event.type, told.value])
          },
          onError: end,
        })
        captureOne(stage).catch(end)
      })
      expectEqual(seen, ['included', 12_500_000n])
    },
  },
]

const someone = (): Address => privateKeyToAddress(generatePrivateKey())

const askNode = (
  { request }: Stage['reader'],
  method: string,
  ...params: unknown[]
): Promise<unknown> => request({ method, params } as never)

async function captureOne(
  stage: Stage,
): Promise<{ hash: Hex; block: bigint; events: TokenEvent[] }> {
  const { reader, merchant } = stage
  const payment = await signedPayment(stage)
  const hash = await capturePayment(merchant, { payment })
  const outcome = await waitForOutcome(reader, { payment, hash })
  if (outcome.status !== 'captured') throw new Error(outcome.status)
  const { from, to, value, nonce } = payment.message
  return {
    hash,
    block: outcome.proof.blockNumber,
    events: [
      { name: 'AuthorizationUsed', authorizer: from, nonce },
      { name: 'Transfer', from, to, value },
    ],
  }
}
