import { capturePayment, getPaymentOutcome } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createReadClient, getLogs, streamLogs } from 'countersign/reads'
import { erc20Abi, type Hash, pad } from 'viem'
import {
  getBlockNumber,
  getTransactionReceipt,
  mine,
  setAutomine,
  writeContract,
} from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { topics } from '../../../../src/core/tokenAbi.js'
import { auditOrders } from '../../../../src/orders/verbs/auditOrders.js'
import { loadCursor } from '../../../../src/orders/watcher/destinationCursor.js'
import { reconcile } from '../../../../src/orders/watcher/reconcile.js'
import { type Asked, draft, fakeNode, rpcError } from '../../support/desk.js'
import { destinationOf, orderOf, watcherOf } from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/** Logs a provider gives in one answer. */
const most = 3

const refusals: Record<string, (size: number) => unknown> = {
  'by a known wording': () => {
    throw rpcError(-32005, 'query returned more than 3 results')
  },
  'by unknown words': () => {
    throw rpcError(-32000, 'computer says no')
  },
  'by words about a range': () => {
    throw rpcError(-32602, 'too much data in this range')
  },
}

type Receipts = 'whole' | 'one by one' | 'refused'

/** A provider that refuses more logs than a few, in one block too. */
function stingyNode(
  refusal: (size: number) => unknown,
  receipts: Receipts = 'whole',
) {
  const isReceipts = ({ method }: Asked) =>
    method === 'eth_getBlockReceipts' ||
    (method === 'eth_getTransactionReceipt' && receipts === 'refused')
  return fakeNode(chain, async (asked, forward) => {
    if (receipts !== 'whole' && isReceipts(asked))
      throw rpcError(-32601, 'no such method')
    const answer = await forward()
    const isMany =
      asked.method === 'eth_getLogs' &&
      Array.isArray(answer) &&
      answer.length > most
    return isMany ? refusal(answer.length) : answer
  })
}

/** One block with a payment, a gift and more dust than a provider returns. */
async function mineDust(
  payment: Parameters<typeof capturePayment>[1]['payment'],
) {
  const { clients, token } = chain
  const send = (value: bigint) =>
    writeContract(clients.payer, {
      address: token,
      abi: erc20Abi,
      functionName: 'transfer',
      args: [clients.merchant.account.address, value],
      gas: 100_000n,
    })
  await setAutomine(clients.test, false)
  const hashes: Hash[] = []
  for (const value of [0n, 0n, 5n, 0n, 0n, 0n]) hashes.push(await send(value))
  hashes.push(await capturePayment(clients.relayer, { payment }))
  await mine(clients.test, { blocks: 1 })
  await setAutomine(clients.test, true)
  const receipts = await Promise.all(
    hashes.map((hash) => getTransactionReceipt(clients.public, { hash })),
  )
  const blocks = new Set(receipts.map(({ blockNumber }) => blockNumber))
  expect(blocks.size).toBe(1)
  // What the next test reads begins above it.
  await mine(clients.test, { blocks: 5 })
  return receipts
}

const transfer = { primaryType: 'TransferWithAuthorization' } as const

test.each(
  Object.keys(refusals).flatMap((words) => [
    [words, 'whole'] as const,
    [words, 'one by one'] as const,
  ]),
)(
  'dust in one block, refused %s, holds up no reconciliation, watch or audit (receipts: %s)',
  async (words, receipts) => {
    const { client } = stingyNode(refusals[words] ?? (() => []), receipts)
    const context = contextOf(chain, {
      tokens: [{ client, token: chain.token }],
    })
    await reconcile(context)
    const payment = await draft(chain, transfer)
    const id = await putOrder(context, payment)
    const [{ blockNumber } = { blockNumber: 0n }] = await mineDust(payment)
    const [report] = (await reconcile(context)).destinations
    expect(report).toMatchObject({ captured: 1, unmatched: 1 })
    expect((await orderOf(context, id)).state).toBe('captured')
    const cursor = await context.store.read((tables) =>
      loadCursor(tables, destinationOf(context)),
    )
    expect(cursor?.last.number).toBeGreaterThanOrEqual(blockNumber)
    await watcherOf(context)()
    expect(await auditOrders(context)).toMatchObject({
      ok: true,
      destinations: [
        { captured: { count: 1 }, unmatched: { count: 1, value: 5n } },
      ],
    })
  },
)

test('a draft that is paid among dust is found when its window ends', async () => {
  const { client } = stingyNode(refusals['by unknown words'] ?? (() => []))
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  await reconcile(context)
  const payment = await draft(chain, transfer)
  const { validBefore } = payment.message
  const id = await putOrder(context, payment, {
    order: { state: 'drafted', payer: undefined, lookDue: validBefore },
    attempt: { payer: undefined, spendable: false },
  })
  await mineDust(payment)
  await chain.warp(2000)
  await watcherOf(context)()
  expect((await orderOf(context, id)).state).toBe('captured')
})

test('dust costs no receipts: what moves nothing is not asked about', async () => {
  const { client, methods } = fakeNode(chain)
  const context = contextOf(chain, { tokens: [{ client, token: chain.token }] })
  await reconcile(context)
  const payment = await draft(chain, transfer)
  await putOrder(context, payment)
  await mineDust(payment)
  await reconcile(context)
  const receipts = methods().filter(
    (method) => method === 'eth_getTransactionReceipt',
  )
  // The capture's and the gift's, once each.
  expect(receipts).toHaveLength(2)
})

const filterOf = (block: bigint) => ({
  address: chain.token,
  topics: [topics.transfer, null, pad(chain.clients.merchant.account.address)],
  fromBlock: block - 3n,
  toBlock: block,
})

test.each(['whole', 'one by one'] as const)(
  'logs from receipts (%s) are the logs the node has',
  async (receipts) => {
    const [first] = await mineDust(await draft(chain, transfer))
    if (!first) throw new Error('nothing was mined')
    const filter = filterOf(first.blockNumber)
    const expected = await getLogs(
      createReadClient({ url: chain.urls.http }),
      filter,
    )
    expect(expected).toHaveLength(7)
    for (const refusal of Object.values(refusals)) {
      const { client } = stingyNode(refusal, receipts)
      expect(await getLogs(client, filter)).toEqual(expected)
      const chunks = []
      for await (const { logs } of streamLogs(client, filter)) chunks.push(logs)
      expect(chunks.flat()).toEqual(expected)
    }
  },
)

test('a block that is cut short each time is read from its receipts', async () => {
  const [first] = await mineDust(await draft(chain, transfer))
  if (!first) throw new Error('nothing was mined')
  const { client } = stingyNode(() => 'cut sho')
  const logs = await getLogs(client, filterOf(first.blockNumber))
  expect(logs).toHaveLength(7)
})

test('receipts of another block, or not of all transactions, are a fault and no logs', async () => {
  const [first] = await mineDust(await draft(chain, transfer))
  if (!first) throw new Error('nothing was mined')
  const changes: ((receipts: object[]) => unknown)[] = [
    (receipts) => receipts.slice(1),
    () => [],
    (receipts) => receipts.map((one) => ({ ...one, blockHash: first.to })),
  ]
  for (const change of changes) {
    const { client } = fakeNode(chain, async ({ method }, forward) => {
      const answer = await forward()
      if (method === 'eth_getBlockReceipts')
        return change(answer as unknown as object[])
      const isMany = Array.isArray(answer) && answer.length > most
      return method === 'eth_getLogs' && isMany
        ? refusals['by a known wording']?.(1)
        : answer
    })
    await expect(
      getLogs(client, filterOf(first.blockNumber)),
    ).rejects.toMatchObject({ name: 'NodeAnswerError', retryable: true })
  }
})

test("a node that refuses the receipts too is an error with the provider's words", async () => {
  const [first] = await mineDust(await draft(chain, transfer))
  if (!first) throw new Error('nothing was mined')
  const { client } = stingyNode(
    refusals['by unknown words'] ?? (() => []),
    'refused',
  )
  await expect(
    getLogs(client, filterOf(first.blockNumber)),
  ).rejects.toMatchObject({
    name: 'LogRangeError',
    details: { block: first.blockNumber, words: 'computer says no' },
  })
})

test('the search of an outcome reads the receipts of a block whose logs are refused', async () => {
  const payment = await draft(chain, transfer)
  const receipts = await mineDust(payment)
  const hash = receipts.at(-1)?.transactionHash
  const block = await getBlockNumber(chain.clients.public, { cacheTime: 0 })
  // Here it is any log of the payer's that is too much.
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    const isMany = Array.isArray(answer) && answer.length > 0
    return method === 'eth_getLogs' && isMany
      ? refusals['by a known wording']?.(1)
      : answer
  })
  expect(await getPaymentOutcome(client, { payment, block })).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash },
  })
})

test('a receipt that is missing from the block of a refused search is a fault and no outcome', async () => {
  const payment = await draft(chain, transfer)
  await mineDust(payment)
  const block = await getBlockNumber(chain.clients.public, { cacheTime: 0 })
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    if (method === 'eth_getTransactionReceipt') return null
    const isMany = Array.isArray(answer) && answer.length > 0
    return method === 'eth_getLogs' && isMany
      ? refusals['by unknown words']?.(1)
      : answer
  })
  await expect(
    getPaymentOutcome(client, { payment, block }),
  ).rejects.toMatchObject({ name: 'NodeAnswerError', retryable: true })
})
