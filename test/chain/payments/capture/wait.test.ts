import {
  cancelPayment,
  capturePayment,
  signCapture,
  type WaitForOutcomeParameters,
} from 'countersign'
import { type Hash, zeroHash } from 'viem'
import {
  mine,
  sendRawTransaction,
  setAutomine,
  waitForTransactionReceipt,
} from 'viem/actions'
import { expect, test } from 'vitest'
import {
  countOf,
  draft,
  fakeNode,
  mined,
  randomHash,
  revoke,
} from '../../support/desk.js'
import {
  chain,
  isOpen,
  merchant,
  node,
  reader,
  relayer,
  wait,
} from '../../support/waitDesk.js'

const gwei = 10n ** 9n

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
