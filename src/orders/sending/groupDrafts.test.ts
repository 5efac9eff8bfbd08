import type { Address } from 'viem'
import { expect, test } from 'vitest'
import {
  storedAttempt as attempt,
  storedOrder as order,
} from '../../../test/unit/support/storedOrder.js'
import { type GroupLimits, groupDrafts } from './groupDrafts.js'
import type { DueDraft } from './rehearseDue.js'

const other = `0x${'77'.repeat(20)}` as const
const contract = `0x${'88'.repeat(20)}` as const

function draft(id: string, changes: Partial<DueDraft> = {}): DueDraft {
  const stored = { order: { ...order, id }, attempt, attempts: [], proofs: [] }
  const call = { to: order.token, data: '0x1234' } as const
  return { stored, kind: 'capture', call, gas: 100_000n, ...changes }
}

function ofToken(id: string): DueDraft {
  const { stored } = draft(id)
  const changed = { ...stored.order, token: other }
  return draft(id, { stored: { ...stored, order: changed } })
}

/** A permit, which the contract at `to` takes. */
function permit(id: string, payer: Address, to: Address = contract): DueDraft {
  const { stored, call } = draft(id)
  return draft(id, {
    stored: {
      ...stored,
      order: { ...stored.order, primaryType: 'Permit' },
      attempt: { ...attempt, payer },
    },
    call: { ...call, to },
  })
}

function group(drafts: readonly DueDraft[], limits: Partial<GroupLimits> = {}) {
  const groups = groupDrafts(drafts, {
    shared: new Set(drafts),
    limitOf: () => 100,
    mostGas: 2n ** 24n,
    ownGas: 50_000n,
    ...limits,
  })
  return groups.map((one) => one.map(({ stored }) => stored.order.id).join(''))
}

const many = ['a', 'b', 'c', 'd', 'e'].map((id) => draft(id))

test('drafts that may share a transaction are one group, and others go alone', () => {
  expect(group(many)).toEqual(['abcde'])
  const [first, , third, ...rest] = many
  if (!first || !third) throw new Error('too few')
  expect(group(many, { shared: new Set([first, third, ...rest]) })).toEqual([
    'acde',
    'b',
  ])
})

test('a group has payments of one token, whose gas is divided among them', () => {
  const mixed = [draft('a'), ofToken('b'), draft('c'), ofToken('d')]
  expect(group(mixed)).toEqual(['ac', 'bd'])
})

test('permits are in groups of the contract that takes them, whose logs divide the gas', () => {
  const [one, two, three] = [order.token, other, contract]
  const mixed = [
    draft('a'),
    permit('b', one),
    permit('c', two),
    draft('d'),
    permit('e', three, other),
  ]
  expect(group(mixed)).toEqual(['ad', 'bc', 'e'])
})

test('a group has one permit of a payer', () => {
  const [one, two] = [order.token, other]
  const permits = [permit('a', one), permit('b', one), permit('c', two)]
  expect(group(permits)).toEqual(['a', 'bc'])
})

test('no group has more payments than any of its own may share with', () => {
  expect(group(many, { limitOf: () => 2 })).toEqual(['ab', 'cd', 'e'])
  const limitOf = (id: string) => (id === 'c' ? 3 : 100)
  expect(group(many, { limitOf })).toEqual(['abc', 'de'])
})

test('no group takes more gas than a transaction may', () => {
  // 50,000 and 73,750 for each payment.
  expect(group(many, { mostGas: 200_000n })).toEqual(['ab', 'cd', 'e'])
  // An account that can pay for nothing: nothing is put together.
  expect(group(many, { mostGas: -1n })).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('no group has more data than nodes take', () => {
  const call = {
    to: order.token,
    data: `0x${'00'.repeat(50_000)}`,
  } as const
  const large = ['a', 'b', 'c'].map((id) => draft(id, { call }))
  expect(group(large)).toEqual(['ab', 'c'])
})
