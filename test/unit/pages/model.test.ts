import { expect, test } from 'vitest'
import type { BuyerState } from '../../../src/client/BuyerClient.js'
import { isEndSent, type Model, tokenOf } from '../../../src/pages/web/model.js'
import type { PageToken } from '../../../src/pages/web/pageData.js'
import { attemptKey } from '../../../src/pages/web/sentEnd.js'

const token = `0x${'01'.repeat(20)}` as const

function tokenOn(chainId: number): PageToken {
  return {
    chainId,
    chain: `Chain ${chainId}`,
    explorer: undefined,
    token,
    symbol: 'USDC',
    decimals: 6,
  }
}

test('of two chains with a token at one address, the page shows the chain of the order, before it has read what to sign', () => {
  const order: BuyerState = {
    amount: '12.5',
    chainId: 10,
    token,
    recipient: `0x${'02'.repeat(20)}`,
    window: { validAfter: '1', validBefore: '9' },
    state: 'stored',
    transaction: null,
    refunds: [],
  }
  const model: Model = {
    link: 'live',
    order,
    events: [],
    wallets: [],
    isChoosing: false,
    isUnneeded: false,
    showsDetails: false,
  }
  const tokens = [tokenOn(8453), tokenOn(10)]
  expect(tokenOf(model, tokens)?.chainId).toBe(10)
  expect(tokenOf(model, [tokenOn(8453)])).toBeUndefined()
})

test('the cancellation that a buyer sent belongs to its attempt alone', () => {
  const of = (validBefore: string): BuyerState => ({
    amount: '12.5',
    chainId: 10,
    token,
    recipient: `0x${'02'.repeat(20)}`,
    window: { validAfter: '1', validBefore },
    state: 'stored',
    transaction: null,
    refunds: [],
  })
  const model: Model = {
    link: 'live',
    events: [],
    wallets: [],
    isChoosing: false,
    isUnneeded: false,
    showsDetails: false,
    sentEnd: attemptKey(of('9')),
  }
  expect(isEndSent(model)).toBe(false)
  expect(isEndSent({ ...model, order: of('9') })).toBe(true)
  expect(isEndSent({ ...model, order: of('19') })).toBe(false)
})
