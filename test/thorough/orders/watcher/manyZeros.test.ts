import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { concatHex, encodeFunctionData, erc20Abi, toHex } from 'viem'
import { sendTransaction } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  draft,
  fakeNode,
  mined,
  rpcError,
} from '../../../chain/support/desk.js'
import {
  asidesOf,
  mineBlocks,
  orderOf,
  typesOf,
  watchOf,
} from '../../../chain/support/watching.js'
import { contextOf, putOrder } from '../../../chain/support/watchRows.js'
import { drawAddress } from '../../../storeCases/samples.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/**
 * The code of a contract that repeats the call in its input: 68 bytes of call
 * data, the number of times, the contract to call.
 */
const repeater = concatHex([
  '0x604460006000376044355b600060006044600060',
  '0x006064355af1506001900380600a5700',
])

const dust = 10_000
const inOne = 500

/** Most requests of a look that reads all of them. */
const mostRequests = 100

/** Most logs that the node gives in one answer. */
const mostLogs = 1_000

test('10,000 transfers of zero to one of 1,000 recipients make nobody else wait', async () => {
  const recipients = Array.from({ length: 1_000 }, () => drawAddress())
  const [dusted = drawAddress(), other = drawAddress()] = recipients
  const node = fakeNode(chain, async (asked, forward) => {
    const answer = await forward()
    const isMany =
      asked.method === 'eth_getLogs' &&
      Array.isArray(answer) &&
      answer.length > mostLogs
    if (isMany) throw rpcError(-32005, 'query returned more than 1000 results')
    return answer
  })
  const context = contextOf(chain, {
    tokens: [{ client: node.client, token: chain.token }],
    recipients,
  })
  const watcher = watchOf(context, {
    reconcileEvery: 0,
    asides: asidesOf(context, { isWaiting: () => false }),
  })
  const payOne = async (to = other): Promise<string> => {
    const payment = await draft(chain, {
      primaryType: 'TransferWithAuthorization',
      to,
    })
    const id = await putOrder(context, payment)
    await mined(chain, capturePayment(chain.clients.relayer, { payment }))
    return id
  }
  await mineBlocks(chain, 1)
  await watcher.look()
  const contract = drawAddress()
  await chain.clients.test.setCode({ address: contract, bytecode: repeater })
  const transfer = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [dusted, 0n],
  })
  const data = concatHex([
    transfer,
    toHex(inOne, { size: 32 }),
    `0x${chain.token.slice(2).padStart(64, '0')}`,
  ])
  for (let sent = 0; sent < dust; sent += inOne)
    await mined(
      chain,
      sendTransaction(chain.clients.payer, {
        to: contract,
        data,
        gas: 25_000_000n,
      }),
    )
  const id = await payOne()
  node.asked.length = 0
  await watcher.look()
  expect((await orderOf(context, id)).state).toBe('captured')
  expect(await typesOf(context)).toEqual([])
  expect(node.methods().length).toBeLessThan(mostRequests)
  const later = await payOne(recipients[2])
  node.asked.length = 0
  await watcher.look()
  expect((await orderOf(context, later)).state).toBe('captured')
  expect(node.methods().length).toBeLessThan(mostRequests)
})
