import { expect, test } from 'vitest'
import type { OrdersPolicy } from './model/types.js'
import { settlePolicy } from './settlePolicy.js'

test('what is left out has the defaults the types tell', () => {
  expect(settlePolicy({ window: undefined })).toEqual({
    window: 900n,
    maxWindow: 86_400n,
    capture: 'manual',
    deadlineNear: 300n,
    safetyMargin: 20n,
    maxFee: undefined,
    maxCaptureGas: 300_000n,
    contractPayers: 'accept',
    relayCancellations: 'onApproval',
    fulfilAt: 'safe',
    blocks: undefined,
    maxInFlight: 16,
    batch: 'auto',
    maxBatch: 100,
    bumpAfter: 15,
    lease: 15_000,
    signTimeout: 10_000,
    sealTimeout: 5_000,
    walletTimeout: 120_000,
    pollingInterval: undefined,
    quietInterval: undefined,
    chainClock: 'checked',
  })
})

test('what is given is kept, and changes no default', () => {
  const given: OrdersPolicy = {
    window: 60n,
    capture: 'onAccept',
    blocks: { safe: 3, finalized: 12 },
    maxFee: 0n,
  }
  expect(settlePolicy(given)).toMatchObject(given)
  expect(settlePolicy()).toMatchObject({ window: 900n, maxFee: undefined })
})

test.each<[string, object]>([
  ['policy', { captures: 'manual' }],
  ['policy', { toString: 'manual' }],
  ['policy.capture', { capture: 'always' }],
  ['policy.contractPayers', { contractPayers: true }],
  ['policy.relayCancellations', { relayCancellations: 'never' }],
  ['policy.fulfilAt', { fulfilAt: 'preconfirmed' }],
  ['policy.capture', { capture: ['manual'] }],
  ['policy.maxWindow', { maxWindow: 2n ** 70n }],
  ['policy.deadlineNear', { deadlineNear: 2n ** 70n }],
  ['policy.deadlineNear', { capture: 'beforeDeadline', deadlineNear: 20n }],
  ['policy.deadlineNear', { capture: 'beforeDeadline', safetyMargin: 300n }],
  ['policy.window', { window: 20n }],
  ['policy.window', { safetyMargin: 900n }],
  ['policy.pollingInterval', { pollingInterval: 2 ** 31 }],
  ['policy.window', { window: 900 }],
  ['policy.window', { window: 86_401n }],
  ['policy.maxWindow', { maxWindow: -1n }],
  ['policy.safetyMargin', { safetyMargin: 20 }],
  ['policy.maxFee', { maxFee: '1' }],
  ['policy.maxInFlight', { maxInFlight: 0 }],
  ['policy.lease', { lease: 1.5 }],
  ['policy.pollingInterval', { pollingInterval: Number.NaN }],
  ['policy.blocks.safe', { blocks: 5 }],
  ['policy.blocks.finalized', { blocks: { safe: 3 } }],
  ['policy.blocks.finalized', { blocks: { safe: 3, finalized: 2 } }],
])('%s is refused: %o', (field, policy) => {
  expect(() => settlePolicy(policy as OrdersPolicy)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})
