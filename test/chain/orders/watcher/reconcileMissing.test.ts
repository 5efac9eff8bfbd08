import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createClient, erc20Abi, http } from 'viem'
import { writeContract } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadCursor } from '../../../../src/orders/watcher/destinationCursor.js'
import { draft, fakeNode, fundedAccount, mined } from '../../support/desk.js'
import {
  destinationOf,
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
})
afterAll(() => chain.stop())

test('a transfer whose receipt the node does not give holds up no other payment, and is written once it gives it', async () => {
  let missing: string | undefined
  const failed: unknown[] = []
  const { client } = fakeNode(chain, async ({ method, params }, forward) =>
    method === 'eth_getTransactionReceipt' && Object(params)[0] === missing
      ? null
      : forward(),
  )
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
    observe: ({ name, attributes }) => {
      if (name === 'watch.failed') failed.push(attributes.what)
    },
  })
  const cursorOf = () =>
    context.store.read((tables) => loadCursor(tables, destinationOf(context)))
  const payment = await draft(chain, {
    primaryType: 'TransferWithAuthorization',
  })
  const id = await putOrder(context, payment)
  const look = watcherOf(context)
  await look()
  const stranger = createClient({
    account: await fundedAccount(chain, 5n),
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const merchant = chain.clients.merchant.account.address
  const sending = writeContract(stranger, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [merchant, 5n],
  })
  const before = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  missing = await mined(chain, sending)
  await mined(chain, capturePayment(chain.clients.relayer, { payment }))
  // Farther than a reconciliation goes back from its cursor.
  await mineBlocks(chain, 80)
  await look()
  await look()
  expect((await orderOf(context, id)).state).toBe('captured')
  expect(failed).toContain(missing)
  expect((await cursorOf())?.last.number).toBe(before)
  missing = undefined
  await look()
  expect(await typesOf(context)).toContain('unmatched')
  const { number } = await chain.clients.public.getBlock()
  expect((await cursorOf())?.last.number).toBe(number)
})
