import { memoryStore } from 'countersign/store'
import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import { takeBack } from '../../../../src/orders/watcher/takeBack.js'
import type { OrderRecord } from '../../../../src/store/types.js'
import { sampleProof, sampleTransaction } from '../../../storeCases/samples.js'
import { contextOver } from '../../support/contextOver.js'
import { storedAttempt, storedOrder } from '../../support/storedOrder.js'

const hash: Hash = `0x${'a'.repeat(64)}`
const ids = ['one', 'two'] as const
const { chainId, token, recipient } = storedOrder

const proofs = ids.map((orderId, logIndex) =>
  sampleProof(storedOrder, {
    transactionHash: hash,
    logIndex,
    kind: 'capture',
    orderId,
    attempt: 1,
    blockHash: hash,
    blockNumber: 9n,
    payer: recipient,
    submitter: token,
  }),
)

const sent = sampleTransaction(
  { chainId, account: token },
  {
    nonce: 7,
    movements: ids.map((orderId) => ({ orderId, attempt: 1 })),
    hash,
    raw: 'sealed',
    inFlight: false,
  },
)

/**
 * One transaction captured two orders, and a reorganization takes both
 * captures back.
 */
async function loseBoth(second: Partial<OrderRecord>) {
  const store = memoryStore()
  const { version: _, position: __, ...order } = storedOrder
  const { version: ___, ...attempt } = storedAttempt
  await store.write(async (tables) => {
    for (const id of ids) {
      await tables.orders.insert([
        {
          ...order,
          state: 'captured',
          requested: 'capture',
          sendDue: undefined,
          settledHash: hash,
          settledBlock: 9n,
          finality: 'included',
          ...(id === 'two' ? second : {}),
          id,
        },
      ])
      const nonce: Hash = `0x${id === 'two' ? '6'.repeat(64) : '5'.repeat(64)}`
      await tables.attempts.insert([{ ...attempt, nonce, orderId: id }])
    }
    await tables.transactions.insert([sent])
    await tables.proofs.insert(proofs)
  })
  const displaced = proofs.map((proof) => ({
    proof: { ...proof, version: 1 },
    verdict: 'gone' as const,
    replacedBy: hash,
  }))
  const context = contextOver(store, { capture: 'onAccept' })
  await takeBack(context, displaced, { blockTime: 100n })
  return store.read(async (tables) => {
    const orders = await tables.orders.find({ ids })
    const rows = await tables.transactions.find({ orderIds: ids })
    return {
      states: orders.map(({ state, sendDue }) => [state, sendDue]),
      inFlight: rows.map((row) => row.inFlight),
    }
  })
}

test('a transaction of two payments is sent again after a reorganization', async () => {
  expect(await loseBoth({})).toEqual({
    states: [
      ['capturing', undefined],
      ['capturing', undefined],
    ],
    inFlight: [true],
  })
})

test.each([
  ['was voided before it was captured', { unexpected: true }],
  ['is to be voided', { requested: 'void' }],
] as const)(
  'a transaction of two payments is not sent again if one of them %s: the other is sent alone',
  async (_, second) => {
    expect(await loseBoth(second)).toMatchObject({
      states: [
        ['stored', 0n],
        ['voided', undefined],
      ],
      inFlight: [false],
    })
  },
)
