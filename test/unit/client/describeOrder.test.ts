import {
  type BuyerState,
  describeOrder,
  type MerchantOrder,
  type OrderWords,
} from 'countersign/client'
import type { OrderState } from 'countersign/store'
import { expect, expectTypeOf, test } from 'vitest'
import { germanOrderWords } from '../../../src/client/words/de.js'
import { englishOrderWords } from '../../../src/client/words/en.js'

const states: Record<OrderState, true> = {
  drafted: true,
  stored: true,
  capturing: true,
  captured: true,
  canceling: true,
  canceled: true,
  voided: true,
  expired: true,
  consumed: true,
}
const requests = [undefined, 'capture', 'void', 'cancel'] as const
const roles = ['buyer', 'merchant'] as const
const languages = ['en', 'de'] as const
const now = 1_000n

const bought = {
  state: 'stored',
  amount: '12.5',
  window: { validBefore: '1245' },
  transaction: null,
  refunds: [],
}

/** Each text with the path of its key. */
function textsOf(value: unknown, path = ''): [string, string][] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
        textsOf(inner, `${path}.${name}`),
      )
    : [[path, String(value)]]
}

const cases = Object.keys(states).flatMap((state) =>
  requests.flatMap((requested) =>
    roles.flatMap((role) =>
      languages.map((language) => ({ state, requested, role, language })),
    ),
  ),
)

test.each(cases)(
  'an order that is $state with request $requested has words for a $role in $language',
  ({ state, requested, role, language }) => {
    for (const finality of ['included', 'safe', 'finalized'])
      for (const flags of [
        {},
        { needsReview: true },
        { unexpected: true },
        { overpaid: true },
        { atMost: '20' },
        { spendableUntil: '1245' },
        { preconfirmed: '0xab' },
      ]) {
        const order = {
          ...bought,
          ...flags,
          state,
          requested,
          capture: { finality },
        }
        const said = describeOrder(order, { for: role, language, now })
        expect(said.state).toMatch(/\S/)
        expect(said.detail).toMatch(/\S/)
        expect(said.next).not.toBe('')
        expect(JSON.stringify({ ...said, deadline: null })).not.toMatch(
          /[{}]{2}|\{\w+\}|undefined/,
        )
        expect(said.state).not.toBe(
          describeOrder({ state: 'later' }, { for: role, language }).state,
        )
      }
  },
)

test('all languages have the same keys, the same placeholders, and no text of another language', () => {
  const english = textsOf(englishOrderWords)
  const german = textsOf(germanOrderWords)
  expect(german.map(([path]) => path)).toEqual(english.map(([path]) => path))
  const marks = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String)
  for (const [index, [path, text]] of english.entries()) {
    const other = german[index]?.[1] ?? ''
    expect([path, new Set(marks(other))]).toEqual([path, new Set(marks(text))])
    if (/\s/.test(text)) expect([path, other]).not.toEqual([path, text])
    if (!path.endsWith('.next'))
      expect([path, other.length > 0]).toEqual([path, true])
  }
})

test('words can be given as an object, and a missing text is an error of types', () => {
  const own: OrderWords = {
    ...englishOrderWords,
    locale: 'fr',
    buyer: {
      ...englishOrderWords.buyer,
      refunded: {
        state: 'Remboursé : {amount}',
        detail: 'Le magasin a remboursé {amount}{place}.',
        next: '',
      },
    },
  }
  const refunds = [{ state: 'succeeded', amount: '1234.5' }]
  const said = describeOrder(
    { state: 'captured', refunds },
    { for: 'buyer', language: own, symbol: 'EURC' },
  )
  expect(said.state).toBe('Remboursé : 1\u202f234,50 EURC')
  const { place: _, ...partly } = own
  expectTypeOf(partly).not.toExtend<OrderWords>()
})

test('orders of both clients can be described', () => {
  expectTypeOf(describeOrder).parameter(0).not.toBeAny()
  const described = (order: BuyerState | MerchantOrder) =>
    describeOrder(order, { for: 'buyer' })
  expectTypeOf(described).returns.toHaveProperty('state')
})

test.each([
  [['2.50'], 'en', 'Refunded 2.50 USDC'],
  [['0.1', '0.2'], 'en', 'Refunded 0.30 USDC'],
  [['0.000001'], 'en', 'Refunded 0.000001 USDC'],
  [
    ['9007199254740993.000000000000000001'],
    'en',
    'Refunded 9,007,199,254,740,993.000000000000000001 USDC',
  ],
  [['1234567.5'], 'de', '1.234.567,50 USDC erstattet'],
] as const)(
  'the sum of refunds of %j is exact in %s',
  (amounts, language, state) => {
    const refunds = amounts.map((amount) => ({ state: 'succeeded', amount }))
    const options = { for: 'buyer', language, symbol: 'USDC' } as const
    expect(
      describeOrder({ ...bought, state: 'captured', refunds }, options).state,
    ).toBe(state)
  },
)

test('a refund names its blocks, and a merchant reads whether it was all', () => {
  const refunds = [7n, 9n].map((blockNumber) => ({
    state: 'succeeded',
    amount: '5',
    transaction: { blockNumber },
  }))
  const order = { ...bought, state: 'captured', refunds }
  expect(describeOrder(order, { for: 'buyer', symbol: 'USDC' }).detail).toBe(
    'The shop paid 10.00 USDC back to the account that paid, in blocks 7 and 9.',
  )
  const states = [order, { ...order, amount: '10.0' }].map(
    (one) => describeOrder(one, { for: 'merchant' }).state,
  )
  expect(states).toEqual(['Partly refunded', 'Refunded'])
})

test.each([
  ['requested', 'Your refund is on its way', 'Refund on its way'],
  ['sending', 'Your refund is on its way', 'Refund on its way'],
  ['failed', 'Paid, and final', 'Refund failed'],
  ['canceled', 'Paid, and final', 'Captured'],
  ['later', 'Paid, and final', 'Captured'],
])(
  'a refund that is %s reads %j for the buyer, %j for the merchant',
  (state, buyer, merchant) => {
    const order = {
      ...bought,
      state: 'captured',
      transaction: { finality: 'finalized' },
      refunds: [{ state, amount: '1' }],
    }
    expect(describeOrder(order, { for: 'buyer' }).state).toBe(buyer)
    expect(describeOrder(order, { for: 'merchant' }).state).toBe(merchant)
  },
)

test.each([
  [1n, '1 sec', '1 Sek.'],
  [59n, '59 sec', '59 Sek.'],
  [60n, '1 min', '1 Min.'],
  [245n, '4 min 5 sec', '4 Min. 5 Sek.'],
  [3_599n, '59 min 59 sec', '59 Min. 59 Sek.'],
  [3_660n, '1 hr 1 min', '1 Std. 1 Min.'],
  [172_799n, '47 hr 59 min', '47 Std. 59 Min.'],
  [172_800n, '2 days', '2 Tg.'],
])('%s seconds left are %j, in German %j', (left, english, german) => {
  const window = { validBefore: now + left }
  const texts = languages.map(
    (language) =>
      describeOrder({ ...bought, window }, { for: 'buyer', language, now })
        .deadline?.text,
  )
  expect(texts).toEqual([english, german])
})

test('at the end of the window the time is over, and no step is left', () => {
  const order = { ...bought, window: { validBefore: now } }
  const said = describeOrder(order, { for: 'merchant', now })
  expect(said.deadline).toMatchObject({
    label: 'Expired at',
    at: now,
    isOver: true,
  })
  expect(said.next).toBeUndefined()
})

test.each([
  [{ state: 'drafted' }, true, 'Sending your payment to the shop'],
  [{ state: 'drafted' }, undefined, 'Authorize your payment'],
  [{ state: 'expired' }, true, /The shop did not charge you in time/],
  [{ state: 'expired' }, false, /You did not sign/],
  [{ state: 'expired' }, undefined, /^No money moved, and you can never/],
  [{ state: 'voided' }, false, /You signed nothing/],
])('of %j, signed: %s, the buyer reads %j', (order, signed, text) => {
  const { state, detail } = describeOrder(order, { for: 'buyer', signed })
  expect([state, detail]).toContainEqual(
    typeof text === 'string' ? text : expect.stringMatching(text),
  )
})

test('a merchant reads why, and first what needs a person', () => {
  const order = {
    ...bought,
    state: 'stored',
    reason: 'insufficientFunds',
    requested: 'capture',
  }
  expect(describeOrder(order, { for: 'merchant', now })).toMatchObject({
    detail:
      'The shop has the signed payment. No money has moved. Reason: the payer does not have enough money.',
    next: 'The capture that you requested is sent next.',
  })
  expect(
    describeOrder({ ...order, needsReview: true }, { for: 'merchant', now })
      .next,
  ).toMatch(/^It waits for your decision/)
  expect(
    JSON.stringify(describeOrder(order, { for: 'buyer', now: 0n }).detail),
  ).not.toContain('money.')
})

const hostile = '\u001b[2J\u202e<b>__proto__'
test.each(roles)(
  'nothing of a hostile or newer server is shown to a %s, and nothing throws',
  (role) => {
    for (const strange of [hostile, '__proto__', 'constructor', 'toString', ''])
      for (const state of [
        strange,
        'captured',
        'capturing',
        'voided',
        'stored',
      ]) {
        const order = {
          state,
          amount: strange,
          atMost: strange,
          window: { validBefore: strange },
          spendableUntil: strange,
          reason: strange,
          requested: strange,
          transaction: { finality: strange },
          capture: { finality: strange },
          metadata: { name: hostile },
          refunds: [
            { state: 'x', amount: '1' },
            { state: strange, amount: strange },
          ],
        }
        const said = describeOrder(order, { for: role, now })
        const all = [
          said,
          describeOrder(
            { ...order, refunds: [{ state: 'succeeded', amount: strange }] },
            { for: role, symbol: `US${hostile}`, now },
          ),
        ]
        expect(JSON.stringify(all[0])).not.toMatch(/__proto__|function|<b>/)
        expect(
          Object.values(all)
            .map(({ state, detail }) => state + detail)
            .join(''),
        ).not.toMatch(/\p{C}/u)
        expect(said.deadline).toBeUndefined()
      }
    expect(describeOrder({ state: hostile }, { for: role }).detail).toMatch(
      /state/,
    )
  },
)

test('an unknown role or language is refused by name', () => {
  const described = (parameters: object) => () =>
    describeOrder(bought, parameters as never)
  expect(described({ for: 'bank' })).toThrow(
    'for must be one of buyer, merchant, not "bank".',
  )
  expect(described({ for: 'buyer', language: 'fr' })).toThrow(
    /^language must be one of en, de, an object of words, not "fr"/,
  )
})
