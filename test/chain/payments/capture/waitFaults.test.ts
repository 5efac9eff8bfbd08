import { capturePayment, FinalityUnsupportedError } from 'countersign'
import { HttpRequestError, TimeoutError } from 'viem'
import { mine } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  domainOf,
  draft,
  fakeNode,
  mined,
  newAccount,
  randomHash,
  rpcError,
} from '../../support/desk.js'
import { chain, merchant, node, wait } from '../../support/waitDesk.js'

const faults: [string, () => unknown][] = [
  ['HTTP 500', () => new HttpRequestError({ url: 'http://node', status: 500 })],
  [
    'a gateway without a node',
    () =>
      new HttpRequestError({
        url: 'http://node',
        status: 503,
        details: '{"code":-32011,"message":"no backend is currently healthy"}',
      }),
  ],
  ['a gateway without a node, in a batch', () => rpcError(-32011, 'no')],
  ['HTTP 429', () => new HttpRequestError({ url: 'http://node', status: 429 })],
  ['a dropped connection', () => new TypeError('fetch failed')],
  ['a timeout', () => new TimeoutError({ body: {}, url: 'http://node' })],
  ['an internal error', () => rpcError(-32603, 'Internal error')],
  ['a limit', () => rpcError(-32005, 'rate limit exceeded')],
  ['a replica behind', () => rpcError(-32000, 'header not found')],
]

test.each(
  faults.flatMap(
    ([name, make]) =>
      [
        [name, 'included', make],
        [name, 'safe', make],
      ] as const,
  ),
)('%s is waited out at %s', async (_, finality, make) => {
  const payment = await draft(chain)
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  await mine(node, { blocks: 2 })
  let left = 5
  const { client } = fakeNode(chain, async (_, forward) => {
    if (left-- > 0) throw make()
    return forward()
  })
  const outcome = await wait({ payment, hash, finality }, client)
  expect([outcome.status, left < 0]).toEqual(['captured', true])
})

test.each([{}, 'garbage', { status: '0x1' }, []])(
  'the answer %j is waited out',
  async (garbage) => {
    const payment = await draft(chain)
    const hash = await mined(chain, capturePayment(merchant, { payment }))
    let left = 4
    const { client } = fakeNode(chain, async (_, forward) =>
      left-- > 0 ? garbage : forward(),
    )
    const outcome = await wait({ payment, hash }, client)
    expect(outcome.status).toBe('captured')
  },
)

test('a node that refuses for good is an error', async () => {
  const { client } = fakeNode(chain, async () => {
    throw rpcError(-32601, 'the method is not available')
  })
  const payment = await draft(chain)
  await expect(
    wait({ payment, hash: randomHash() }, client),
  ).rejects.toMatchObject({ name: 'NodeError', retryable: false })
})

test.each([
  ['answers null', async () => null],
  [
    'refuses the tag',
    async () => {
      throw rpcError(-39001, 'safe block not found')
    },
  ],
])('a node without a safe block that %s is named', async (_, answer) => {
  const { client } = fakeNode(chain, async ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && Object(params)[0] === 'safe'
      ? answer()
      : forward(),
  )
  const payment = await draft(chain)
  const error = await wait({ payment, finality: 'safe' }, client).catch(
    (e) => e,
  )
  expect(error).toBeInstanceOf(FinalityUnsupportedError)
  expect(error.details).toEqual({ finality: 'safe' })
})

test.each(['included', 'safe'] as const)(
  'an address without a token is an error at %s',
  async (finality) => {
    const domain = domainOf(newAccount().address)
    const payment = await draft(chain, { domain })
    await expect(wait({ payment, finality })).rejects.toMatchObject({
      name: 'UnsupportedTokenError',
    })
  },
)

test('one answer without logs is not taken for unknown', async () => {
  const payment = await draft(chain)
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  let behind = true
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    if (method !== 'eth_getLogs' || !behind) return forward()
    behind = false
    return []
  })
  expect(await wait({ payment }, client)).toMatchObject({
    status: 'captured',
    proof: { transactionHash: hash },
  })
})

test('what is looked for in vain twice is unknown', async () => {
  const payment = await draft(chain)
  await mined(chain, capturePayment(merchant, { payment }))
  const { client } = fakeNode(chain, async ({ method }, forward) =>
    method === 'eth_getLogs' ? [] : forward(),
  )
  expect(await wait({ payment }, client)).toMatchObject({ status: 'unknown' })
})

test('the first poll without a receipt asks whether another transaction captured the payment', async () => {
  const payment = await draft(chain)
  const captured = await mined(chain, capturePayment(merchant, { payment }))
  const { client, methods } = fakeNode(chain)
  // The one poll that fits into the time.
  const once = { pollingInterval: 60_000, timeout: 30_000 }
  const lost = { payment, hash: randomHash() }
  expect(await wait({ ...lost, ...once }, client)).toMatchObject({
    status: 'captured',
    proof: { transactionHash: captured },
  })
  expect(
    methods().filter((one) => one === 'eth_getTransactionReceipt'),
  ).toHaveLength(3)
})

test('a poll that fails is not the one that asks', async () => {
  const payment = await draft(chain)
  await mined(chain, capturePayment(merchant, { payment }))
  let left = 3
  const { client, methods } = fakeNode(chain, async ({ method }, forward) => {
    if (method === 'eth_call' && left-- > 0) throw rpcError(-32005, 'limit')
    return forward()
  })
  const outcome = await wait({ payment, hash: randomHash() }, client)
  expect(outcome.status).toBe('captured')
  // Three polls that fail; the fourth reads two more receipts in its search.
  expect(
    methods().filter((one) => one === 'eth_getTransactionReceipt'),
  ).toHaveLength(6)
})

test('a node that names a block above its head by its bare number is waited for', async () => {
  const payment = await draft(chain)
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  await mine(node, { blocks: 3 })
  let left = 2
  const { client } = fakeNode(chain, async ({ method, params }, forward) => {
    const block = Object(params)[1]
    if (method === 'eth_call' && left-- > 0)
      throw rpcError(-32000, `${Number(block)} could not be found`)
    return forward()
  })
  const finality = { blocks: 2 }
  expect((await wait({ payment, hash, finality }, client)).status).toBe(
    'captured',
  )
})
