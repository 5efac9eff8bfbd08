import { memoryStore } from 'countersign/store'
import { expect, test } from 'vitest'
import {
  drawTestOrderId,
  isTestOrderId,
  parseNewId,
} from '../../../../src/core/testOrders.js'
import { watchEnd } from '../../../../src/http/streams/streamEnd.js'
import { raiseFinality } from '../../../../src/orders/model/raiseFinality.js'
import { refundRowId } from '../../../../src/orders/model/refundRow.js'
import { acceptUndrafted } from '../../../../src/orders/verbs/acceptUndrafted.js'
import { draftOrder } from '../../../../src/orders/verbs/draftOrder.js'
import type { OrderRecord, ProofRecord } from '../../../../src/store/types.js'
import { parseSubscriptionId } from '../../../../src/subscriptions/verbs/draftSubscription.js'
import { samplePayment } from '../../../../src/testing/samplePayment.js'
import { contextOver } from '../../support/contextOver.js'
import { storedOrder } from '../../support/storedOrder.js'
import { event } from '../../support/webhooksEvent.js'

const id = drawTestOrderId()
const hash = `0x${'c'.repeat(64)}` as const

const captured: OrderRecord = {
  ...storedOrder,
  state: 'captured',
  finality: 'included',
  settledHash: hash,
  settledBlock: 7n,
}
const proof: ProofRecord = {
  transactionHash: hash,
  logIndex: 0,
  version: 1,
  kind: 'capture',
  chainId: captured.chainId,
  token: captured.token,
  recipient: captured.recipient,
  orderId: captured.id,
  attempt: 1,
  blockHash: hash,
  blockNumber: 7n,
  blockTime: 0n,
  gasUsed: 0n,
  effectiveGasPrice: 0n,
  payer: captured.recipient,
  value: captured.value,
  submitter: captured.submitter,
  removed: false,
}
const options = { fulfilAt: 'safe', finality: 'safe', at: 1n } as const

test('a test order reaches each finality, and is never fulfilled', () => {
  const typesOf = (orderId: string) =>
    raiseFinality({ ...captured, id: orderId }, proof, options).events.map(
      ({ type }) => type,
    )
  expect(typesOf('order-1')).toEqual(['finalityRaised', 'fulfil'])
  expect(typesOf(id)).toEqual(['finalityRaised'])
})

test('the mark is that of an order and of its refunds, and each order has another', () => {
  expect(isTestOrderId(id)).toBe(true)
  expect(isTestOrderId(refundRowId(id, 'refund-1'))).toBe(true)
  expect(drawTestOrderId()).not.toBe(id)
  for (const other of [undefined, 'order-1', `x${id}`, id.toUpperCase()])
    expect(isTestOrderId(other)).toBe(false)
})

test('nobody gives the mark to anything new', async () => {
  const refused = {
    name: 'InvalidFieldError',
    message: expect.stringContaining('does not begin with countersign-test-'),
  }
  const context = contextOver(memoryStore())
  const payment = { ...samplePayment(), signature: hash }
  const token = { domain: payment.domain, decimals: 6 }
  const { to: recipient, value } = payment.message
  for (const orderId of [id, 'countersign-test-', 'countersign-test-mine']) {
    expect(() => parseNewId(orderId)).toThrow(expect.objectContaining(refused))
    expect(() => parseSubscriptionId(orderId)).toThrow(
      expect.objectContaining(refused),
    )
    await expect(
      draftOrder(context, { orderId, amount: '1' }),
    ).rejects.toMatchObject(refused)
    await expect(
      acceptUndrafted(context, {
        orderId,
        payment,
        token,
        recipient,
        value,
        capture: 'now',
      }),
    ).rejects.toMatchObject(refused)
  }
  expect(parseNewId('test-countersign-1')).toBe('test-countersign-1')
})

test('a stream of a test order ends once its capture is final', () => {
  for (const [orderId, isReached] of [
    [id, true],
    ['order-1', false],
  ] as const) {
    const end = watchEnd()
    end.note({ ...event, orderId })
    expect(end.isReached()).toBe(false)
    const data = { finality: 'safe' } as const
    end.note({ ...event, orderId, type: 'finalityRaised', data })
    expect(end.isReached()).toBe(isReached)
  }
})
