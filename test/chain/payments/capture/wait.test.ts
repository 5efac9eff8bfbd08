import { getEventListeners } from 'node:events'
import process from 'node:process'
import {
  cancelPayment,
  capturePayment,
  FinalityUnsupportedError,
  OutcomeTimeoutError,
  type PaymentOutcome,
  signCapture,
  type WaitForOutcomeParameters,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { detectPreconfirmations } from 'countersign/reads'
import { type Hash, HttpRequestError, TimeoutError, zeroHash } from 'viem'
import {
  mine,
  sendRawTransaction,
  setAutomine,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  countOf,
  domainOf,
  draft,
  fakeNode,
  mined,
  newAccount,
  randomHash,
  revoke,
  rpcError,
} from '../../support/desk.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
const { public: reader, test: node, merchant, relayer } = chain.clients
const pollingInterval = 20
const gwei = 10n ** 9n

const wait = (
  parameters: WaitForOutcomeParameters,
  client: Parameters<typeof waitForOutcome>[0] = reader,
): Promise<PaymentOutcome> =>
  waitForOutcome(client, { pollingInterval, ...parameters })

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Whether a promise is still open after a few looks. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open')
  const first = await Promise.race([promise, sleep(150).then(() => open)])
  return first === open
}

/** Keeps transactions in the pool until `mine`. */
async function holdBlocks<result>(run: () => Promise<result>): Promise<result> {
  await setAutomine(node, false)
  try {
    return await run()
  } finally {
    await setAutomine(node, true)
  }
}

test.each([
  ['preconfirmed', 0, 'included'],
  ['included', 0, 'included'],
  ['safe', 1, 'safe'],
  ['finalized', 2, 'finalized'],
] as const)(
  'at %s the outcome comes %d blocks later',
  async (asked, later, finality) => {
    const payment = await draft(chain)
    const hash = await mined(chain, capturePayment(merchant, { payment }))
    const waiting = wait({ payment, hash, finality: asked })
    for (let block = 0; block < later; block++) {
      expect(await isOpen(waiting)).toBe(true)
      await mine(node, { blocks: 1 })
    }
    expect(await waiting).toMatchObject({
      status: 'captured',
      proof: { transactionHash: hash, finality },
    })
  },
)

test('three blocks are the deciding one and two more', async () => {
  const payment = await draft(chain)
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  const waiting = wait({ payment, hash, finality: { blocks: 3 } })
  await mine(node, { blocks: 1 })
  expect(await isOpen(waiting)).toBe(true)
  await mine(node, { blocks: 1 })
  expect((await waiting).status).toBe('captured')
})

test.each([0, -1, 1.5])('%d blocks are no finality', async (blocks) => {
  const payment = await draft(chain)
  await expect(wait({ payment, finality: { blocks } })).rejects.toMatchObject({
    name: 'InvalidFieldError',
  })
})

test.each([null, 12, {}, { block: 12 }, true])(
  '%o is no finality, and not taken for the weakest',
  async (given) => {
    const payment = await draft(chain)
    const finality = given as unknown as { blocks: number }
    await expect(wait({ payment, finality })).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'finality.blocks' },
    })
  },
)

/** A sequencer that serves receipts without a block until it is told. */
function preconfirming() {
  let sealed = false
  const { client } = fakeNode(chain, async ({ method }, forward) => {
    const answer = await forward()
    return method === 'eth_getTransactionReceipt' && answer && !sealed
      ? { ...Object(answer), blockHash: zeroHash }
      : answer
  })
  const seal = () => {
    sealed = true
  }
  return { client, seal }
}

test('a receipt without a block is a preconfirmation', async () => {
  const payment = await draft(chain)
  const { client } = preconfirming()
  const hash = await mined(chain, capturePayment(merchant, { payment }))
  const finality = 'preconfirmed'
  expect(await wait({ payment, hash, finality }, client)).toMatchObject({
    status: 'captured',
    proof: { blockHash: zeroHash, finality: 'preconfirmed' },
  })
})

test.each(['included', 'safe'] as const)(
  'a receipt without a block is not %s',
  async (finality) => {
    const payment = await draft(chain)
    const { client, seal } = preconfirming()
    const hash = await mined(chain, capturePayment(merchant, { payment }))
    await mine(node, { blocks: 3 })
    const waiting = wait({ payment, hash, finality }, client)
    expect(await isOpen(waiting)).toBe(true)
    seal()
    expect(await waiting).toMatchObject({
      status: 'captured',
      proof: { finality },
    })
  },
)

test('a pool the node looks ahead into is waited for without a hash', async () => {
  const payment = await draft(chain)
  await holdBlocks(async () => {
    const hash = await capturePayment(merchant, { payment })
    const waiting = wait({ payment, finality: 'preconfirmed' })
    expect(await isOpen(waiting)).toBe(true)
    await mine(node, { blocks: 1 })
    expect(await waiting).toMatchObject({
      status: 'captured',
      proof: { transactionHash: hash },
    })
  })
})

test('a replaced transaction is followed', async () => {
  const payment = await draft(chain)
  const nonce = await countOf(chain, merchant.account)
  await holdBlocks(async () => {
    const send = (fee: bigint) =>
      capturePayment(merchant, {
        payment,
        nonce,
        maxFeePerGas: fee,
        maxPriorityFeePerGas: fee,
      })
    const first = await send(20n * gwei)
    const second = await send(40n * gwei)
    expect(second).not.toBe(first)
    const waiting = wait({ payment, hash: first })
    await mine(node, { blocks: 1 })
    expect(await waiting).toMatchObject({
      status: 'captured',
      proof: { transactionHash: second },
    })
  })
})

test.each([
  ['capture', 'captured', 60n, 20n],
  ['cancellation', 'canceled', 20n, 60n],
] as const)(
  'of a race in one block the %s has won for everyone',
  async (_, status, tip, cancelTip) => {
    const payment = await draft(chain)
    const cancellation = await revoke(chain, payment)
    const fees = (gweis: bigint) => ({
      maxFeePerGas: 2n * gweis * gwei,
      maxPriorityFeePerGas: gweis * gwei,
    })
    const hashes = await holdBlocks(async () => {
      const sent = await Promise.all([
        capturePayment(merchant, { payment, ...fees(tip) }),
        cancelPayment(relayer, { cancellation, ...fees(cancelTip) }),
      ])
      await mine(node, { blocks: 1 })
      return sent
    })
    const receipts = await Promise.all(
      hashes.map((hash) => waitForTransactionReceipt(reader, { hash })),
    )
    expect(receipts.map((receipt) => receipt.status).sort()).toEqual([
      'reverted',
      'success',
    ])
    const outcomes = await Promise.all(
      [...hashes, undefined].map((hash) => wait({ payment, hash })),
    )
    expect(outcomes[0]?.status).toBe(status)
    expect(outcomes).toEqual([outcomes[0], outcomes[0], outcomes[0]])
  },
)

const reorg = (depth: number) =>
  node.request({ method: 'anvil_reorg', params: [depth, []] } as never)
const rollback = (depth: number) =>
  node.request({ method: 'anvil_rollback', params: [depth] } as never)

test.each([
  ['reorganized', reorg],
  ['rolled back', rollback],
])('a capture that is %s away before safe is not captured', async (_, drop) => {
  const payment = await draft(chain)
  const account = merchant.account
  const { raw, hash } = await signCapture(merchant, { payment, account })
  await mine(node, { blocks: 3 })
  await mined(chain, sendRawTransaction(reader, { serializedTransaction: raw }))
  const waiting = wait({ payment, hash, finality: 'safe' })
  expect(await isOpen(waiting)).toBe(true)
  await drop(1)
  await mine(node, { blocks: 3 })
  expect(await isOpen(waiting)).toBe(true)
  await mined(chain, sendRawTransaction(reader, { serializedTransaction: raw }))
  const { blockNumber } = await waitForTransactionReceipt(reader, { hash })
  await mine(node, { blocks: 2 })
  expect(await waiting).toMatchObject({
    status: 'captured',
    proof: { blockNumber, finality: 'safe' },
  })
})

test('a failed transaction is reported at safe once its block is', async () => {
  const payment = await draft(chain)
  await mine(node, { blocks: 3 })
  const options = { payment, gas: 60_000n, simulate: false }
  const hash = await mined(chain, capturePayment(merchant, options))
  const waiting = wait({ payment, hash, finality: 'safe' })
  const caught = waiting.catch((error) => error)
  expect(await isOpen(caught)).toBe(true)
  await mine(node, { blocks: 2 })
  expect(await caught).toMatchObject({
    name: 'CaptureRevertedError',
    reason: 'gasTooHigh',
  })
})

test('a payment nobody captures resolves to expired', async () => {
  const payment = await draft(chain)
  const waiting = wait({ payment })
  expect(await isOpen(waiting)).toBe(true)
  await chain.warp(1000)
  expect(await waiting).toEqual({ status: 'expired' })
})

test('a transaction that never arrives ends with the window', async () => {
  const payment = await draft(chain)
  const waiting = wait({ payment, hash: randomHash() })
  expect(await isOpen(waiting)).toBe(true)
  await chain.warp(1000)
  expect(await waiting).toEqual({ status: 'expired' })
})

test('the time to wait ends with an error that names the hash', async () => {
  const payment = await draft(chain)
  const hash = randomHash()
  const error = await wait({ payment, hash, timeout: 60 }).catch((e) => e)
  expect(error).toBeInstanceOf(OutcomeTimeoutError)
  expect(error).toMatchObject({
    retryable: true,
    details: { timeout: 60, hash },
  })
})

/** A node that never answers. */
const silent = () => fakeNode(chain, () => new Promise(() => undefined)).client

test('a node that never answers does not hold up the timeout', async () => {
  const payment = await draft(chain)
  const error = await wait({ payment, timeout: 50 }, silent()).catch((e) => e)
  expect(error).toBeInstanceOf(OutcomeTimeoutError)
})

test('a timeout longer than a timer can be is no timeout', async () => {
  const payment = await draft(chain)
  const waiting = wait({ payment, timeout: 2 ** 40 })
  expect(await isOpen(waiting)).toBe(true)
  await mined(chain, capturePayment(merchant, { payment }))
  expect((await waiting).status).toBe('captured')
})

test.each([
  ['between two looks', reader],
  ['while a request is under way', silent()],
])('a signal ends the wait %s', async (_, client) => {
  const payment = await draft(chain)
  const stop = new AbortController()
  const waiting = wait({ payment, signal: stop.signal }, client)
  const caught = waiting.catch((error) => error)
  expect(await isOpen(caught)).toBe(true)
  const reason = new Error('enough')
  stop.abort(reason)
  expect(await caught).toBe(reason)
})

test('a signal that is over already asks nothing', async () => {
  const { client, asked } = fakeNode(chain)
  const payment = await draft(chain)
  const signal = AbortSignal.abort()
  await expect(wait({ payment, signal }, client)).rejects.toBe(signal.reason)
  expect(asked).toEqual([])
})

const timers = () =>
  process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length

test.each(['captured', 'aborted', 'timed out'])(
  'no timer and no listener is left when it is %s',
  async (end) => {
    const payment = await draft(chain)
    const stop = new AbortController()
    const { signal } = stop
    const before = timers()
    const timeout = end === 'timed out' ? 50 : 600_000
    const options = { payment, signal, timeout, pollingInterval: 50_000 }
    const waiting = wait(options).catch((error) => error)
    const first = wait({ ...options, pollingInterval: 20 }).catch((e) => e)
    await sleep(40)
    expect(timers()).toBeGreaterThan(before)
    if (end === 'captured')
      await mined(chain, capturePayment(merchant, { payment })).then(
        () => first,
      )
    stop.abort()
    await Promise.all([waiting, first])
    await expect.poll(timers).toBeLessThanOrEqual(before)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  },
)

const faults: [string, () => unknown][] = [
  ['HTTP 500', () => new HttpRequestError({ url: 'http://node', status: 500 })],
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

test('a signed payment is taken as it is, whatever its signature', async () => {
  const { signature: _, ...payment } = await draft(chain)
  const asked = { payment: { ...payment, signature: 'nonsense' } }
  const waiting = wait(asked as WaitForOutcomeParameters)
  await chain.warp(1000)
  expect(await waiting).toEqual({ status: 'expired' })
})

test('an unrelated hash does not keep from the outcome', async () => {
  const [payment, other] = [await draft(chain), await draft(chain)]
  const hash: Hash = await mined(
    chain,
    capturePayment(merchant, { payment: other }),
  )
  const waiting = wait({ payment, hash })
  expect(await isOpen(waiting)).toBe(true)
  const right = await capturePayment(merchant, { payment })
  expect(await waiting).toMatchObject({
    status: 'captured',
    proof: { transactionHash: right },
  })
})

test('a pre-confirmation is looked for every 100 ms by default', async () => {
  const { client, asked } = fakeNode(chain, async () => null)
  const slow = { ...client, pollingInterval: 4000 }
  const payment = await draft(chain)
  const waiting = waitForOutcome(slow, {
    payment,
    hash: randomHash(),
    finality: 'preconfirmed',
    timeout: 450,
  })
  await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
  expect(asked.length).toBeGreaterThanOrEqual(3)
})

test.each([Number.POSITIVE_INFINITY, 2 ** 31])(
  'a polling interval of %d does not flood the node',
  async (pollingInterval) => {
    const { client, asked } = fakeNode(chain)
    const payment = await draft(chain)
    const waiting = wait({ payment, pollingInterval, timeout: 400 }, client)
    await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
    // One look takes one request.
    expect(asked.length).toBeLessThan(3)
  },
)

test('where none was detected, a pre-confirmation is looked for each second', async () => {
  const { client, asked } = fakeNode(chain)
  await detectPreconfirmations(client)
  const slow = { ...client, pollingInterval: 4000 }
  const payment = await draft(chain)
  const before = asked.length
  const hash = randomHash()
  const waiting = waitForOutcome(slow, {
    payment,
    hash,
    finality: 'preconfirmed',
    timeout: 450,
  })
  await expect(waiting).rejects.toThrow(OutcomeTimeoutError)
  expect(asked.length - before).toBe(1)
})

test.each([
  [false, 'pending'],
  [true, 'latest'],
])(
  'a pre-confirmation is judged at the detected tag (%s: %s)',
  async (detected, tag) => {
    const { client, asked } = fakeNode(chain)
    if (detected) await detectPreconfirmations(client)
    const payment = await draft(chain)
    await mined(chain, capturePayment(merchant, { payment }))
    await waitForOutcome(client, { payment, finality: 'preconfirmed' })
    const call = asked.find(({ method }) => method === 'eth_call')
    expect(Object(call?.params)[1]).toBe(tag)
  },
)
