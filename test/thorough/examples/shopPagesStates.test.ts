import type { MerchantOrder } from 'countersign/client'
import type { RefundState } from 'countersign/orders'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openDesk } from '../../chain/support/shopPage.js'
import { findFaults, tabStops } from '../../chain/support/shopPageChecks.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'
import {
  type MerchantLook,
  showToMerchant,
} from '../../chain/support/shopPageStates.js'

const desk = await openDesk()
const { shop } = desk
const account = shop.chain.accounts[3]
if (!account) throw new Error('no account left')
// What the pages show is this order in other states.
await placeOrder(shop, { account, product: 'house-blend', amount: '12.50' })
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const settled = {
  transactionHash: `0x${'5e'.repeat(32)}`,
  blockNumber: '7',
  blockTime: '1700000000',
  finality: 'included',
} as const
const capture = {
  ...settled,
  blockHash: `0x${'b1'.repeat(32)}`,
  logIndex: 1,
  submitter: `0x${'a1'.repeat(20)}`,
  gasUsed: '96764',
  effectiveGasPrice: '1000000000',
  fee: '96764000000000',
} as const

const refunded = {
  refundId: 'one',
  refundTo: `0x${'b1'.repeat(20)}`,
  value: '2500000',
} as const

/** An order with one refund. */
const refundsOf = (
  state: RefundState,
  changes: Partial<MerchantOrder['refunds'][number]> = {},
): Pick<MerchantOrder, 'refunds' | 'refundable'> => ({
  refundable: '10000000',
  refunds: [
    {
      refundId: refunded.refundId,
      orderId: 'order',
      state,
      failure: undefined,
      amount: '2.5',
      value: refunded.value,
      to: refunded.refundTo,
      reason: 'duplicate',
      reserved: true,
      nonce: undefined,
      validBefore: undefined,
      transfer: undefined,
      ...changes,
    },
  ],
})

const merchantLooks: readonly MerchantLook[] = [
  {
    order: { state: 'drafted', payer: undefined, spendableUntil: undefined },
    events: [['drafted']],
  },
  {
    order: { state: 'stored', reason: 'insufficientFunds', needsReview: true },
    events: [['accepted'], ['captureRejected', { reason: 'paused' }]],
  },
  { order: { state: 'capturing' }, events: [['accepted'], ['capturing']] },
  {
    order: { state: 'capturing', preconfirmed: settled.transactionHash },
    events: [['capturing'], ['preconfirmed', settled]],
  },
  {
    order: { state: 'capturing', requested: 'void' },
    events: [['cancellationAccepted', { relayed: false }]],
  },
  {
    order: { state: 'canceling' },
    events: [
      ['cancellationAccepted', { relayed: true }],
      ['canceling', settled],
    ],
  },
  {
    order: { state: 'canceled', cancellation: settled },
    events: [
      ['canceled', settled],
      ['finalityRaised', { finality: 'included' }],
    ],
  },
  {
    order: { state: 'captured', capture, unexpected: true, overpaid: true },
    events: [
      ['captured', settled],
      ['refundDue'],
      ['overpaid', { ...settled, ...refunded }],
    ],
  },
  { order: { state: 'voided' }, events: [['voided']] },
  { order: { state: 'expired', spendableUntil: '1' }, events: [['expired']] },
  { order: { state: 'consumed' }, events: [['consumed']] },
  {
    order: { state: 'captured', capture, ...refundsOf('requested') },
    events: [['refundRequested', { ...refunded, reason: 'duplicate' }]],
  },
  {
    order: { state: 'captured', capture, ...refundsOf('sending') },
    events: [['refundRequested', refunded]],
  },
  {
    order: {
      state: 'captured',
      capture,
      ...refundsOf('succeeded', { transfer: capture }),
      refunded: '2500000',
    },
    events: [['refunded', { ...settled, ...refunded }]],
  },
  {
    order: {
      state: 'captured',
      capture,
      ...refundsOf('failed', { failure: 'insufficientFunds' }),
    },
    events: [['refundFailed', { ...refunded, reason: 'payerBlocked' }]],
  },
  {
    order: {
      state: 'captured',
      capture,
      ...refundsOf('canceled'),
      refundable: '0',
    },
    events: [['refundFailed', { ...refunded, reason: 'canceled' }]],
  },
]

test('orders in any state are fit for everybody who sells', async () => {
  const { page } = await desk.openWindow()
  await showToMerchant(page, shop, merchantLooks)
  await page.goto(shop.merchantUrl)
  const table = page.getByRole('table', { name: /Orders, the newest first/ })
  await table.getByText('Nonce used elsewhere').waitFor()
  expect(await table.getByRole('row').count()).toBe(merchantLooks.length + 1)
  expect(await findFaults(page)).toEqual([])
  const stops = await tabStops(page)
  const byRow = merchantLooks.map((_, at) =>
    stops
      .filter((name) => name.endsWith(`order order-${at}`))
      .map((name) => name.replace(/,? order .*/, '')),
  )
  const actions = [
    ['Void', 'Details'],
    ['Capture', 'Void', 'Details'],
    ['Details'],
    ['Details'],
    ['Details'],
    ['Details'],
    ['Ask again', 'Proof'],
    ['Proof'],
    ['Details'],
    ['Ask again', 'Details'],
    ['Details'],
    ['Refund', 'Proof'],
    ['Refund', 'Proof'],
    ['Refund', 'Proof'],
    ['Refund', 'Proof'],
    ['Proof'],
  ]
  expect(byRow).toEqual(
    actions.map((names) => [
      ...(names.includes('Void') ? ['Select'] : []),
      'House Blend, 250 g',
      ...names,
    ]),
  )
})

test.each(merchantLooks.map((look, at) => [look.order.state, at] as const))(
  'the page of an order that is %s is fit for everybody (%i)',
  async (_, at) => {
    const { page } = await desk.openWindow()
    await showToMerchant(page, shop, merchantLooks)
    const { hash } = new URL(shop.merchantUrl)
    await page.goto(`${shop.url}/merchant/orders/order-${at}${hash}`)
    const history = page.getByRole('list', { name: 'What happened' })
    await history.getByRole('listitem').last().waitFor()
    expect(await findFaults(page)).toEqual([])
    await page.close()
  },
)
