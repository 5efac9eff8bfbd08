import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { decodeClaimSignatures } from '../../../src/channels/movements/claimSignatures.js'
import {
  decodeMovementTerms,
  encodeMovementTerms,
  type MovementTerms,
} from '../../../src/channels/movements/movementTerms.js'
import { parseMovementId } from '../../../src/core/movementIds.js'
import { parseNewId } from '../../../src/core/testOrders.js'

const word = (digit: string): Hex => `0x${digit.repeat(64)}`
const account = (digit: string): Address => `0x${digit.repeat(40)}`

const config = {
  payer: account('1'),
  payerAuthorizer: account('1'),
  receiver: account('2'),
  receiverAuthorizer: account('3'),
  token: account('4'),
  withdrawDelay: 900,
  salt: word('0'),
}
const channelId = word('a')

const all: readonly MovementTerms[] = [
  { action: 'deposit', channelId, config, salt: word('5') },
  { action: 'refund', channelId, config, refundNonce: 7n, charged: 2n ** 100n },
  {
    action: 'claim',
    receiver: config.receiver,
    token: config.token,
    rows: [{ channelId, config, maxClaimable: 2n ** 127n, claimed: 12n }],
  },
  { action: 'claim', receiver: account('2'), token: account('4'), rows: [] },
]

test.each(all)('the terms of a $action come back as they were', (terms) => {
  expect(decodeMovementTerms(encodeMovementTerms(terms))).toEqual(terms)
})

test.each([
  [undefined, 'terms'],
  [{ action: 'deposit' }, 'terms.channelId'],
  [{ action: 'claim', receiver: '0x', token: '0x' }, 'terms.rows'],
  [
    { ...encodeMovementTerms(all[1] as MovementTerms), charged: '-1' },
    'terms.charged',
  ],
])('malformed terms are named: %o', (terms, field) => {
  expect(() => decodeMovementTerms(terms as never)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})

test('the id of a movement says what it is, and no order can have it', () => {
  const ids = {
    [`${channelId}+0123456789abcdef`]: { action: 'deposit', channelId },
    [`${channelId}-12`]: { action: 'refund', channelId },
    [`${channelId}-12.3`]: { action: 'refund', channelId },
    'claim+0123456789abcdef': { action: 'claim', channelId: undefined },
  }
  for (const [id, name] of Object.entries(ids)) {
    expect(parseMovementId(id)).toEqual(name)
    expect(() => parseNewId(id)).toThrow('form of those of channels')
  }
  for (const id of ['claim', 'claim+1', `${channelId}`, 'one-1', '0x12-1'])
    expect(parseMovementId(id)).toBeUndefined()
})

test('signatures of a claim are one for each row, or none are taken', () => {
  const whole = { vouchers: ['0x1', '0x2'], together: '0x3', alone: [] }
  expect(decodeClaimSignatures(JSON.stringify(whole), 2)).toEqual(whole)
  for (const text of ['', '{', '[]', '{"vouchers":[]}', JSON.stringify(whole)])
    expect(decodeClaimSignatures(text, 3)).toBeUndefined()
})
