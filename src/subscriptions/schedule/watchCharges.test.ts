import { expect, test } from 'vitest'
import type { OrderRecord } from '../../store/types.js'
import { buildSpendPermission } from '../permission/buildSpendPermission.js'
import { planCharge, planSubscription } from './orderRow.js'
import { watchCharges } from './watchCharges.js'

const permission = buildSpendPermission({
  chainId: 8453,
  account: '0x00000000000000000000000000000000000000a1',
  spender: '0x00000000000000000000000000000000000000b2',
  token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  allowance: '9.99',
  period: 1000n,
  start: 1000n,
})
const facts = {
  subscriptionId: 'sub',
  permission,
  decimals: 6,
  tokenName: 'USD Coin',
  tokenVersion: '2',
  metadata: {},
  createdAt: 1000n,
}

/** A charge that is decided, unless `fields` say otherwise. */
function chargeOf(chargeId: string, fields: Partial<OrderRecord>): OrderRecord {
  const { order } = planCharge(facts, {
    chargeId,
    value: 1n,
    period: { number: 1n, start: 1000n, end: 2000n },
    signature: '',
  })
  const decided = { requested: undefined, sendDue: undefined }
  return { ...order, version: 1, position: 0n, ...decided, ...fields }
}

const due = 5000n
const row = {
  ...planSubscription(facts, undefined),
  version: 1,
  position: 0n,
  due,
}

/** When the next look is, and whether a revocation is to be found. */
function watch(newest: readonly OrderRecord[], chargeId?: string) {
  const step = { row: { ...row, chargeId } }
  const watched = watchCharges(step, { newest, now: 1000n })
  return [watched.row.due, watched.isRevoked ?? false]
}

const revoked = chargeOf('revoked', { state: 'stored', reason: 'revoked' })
const expired = chargeOf('expired', { state: 'expired', reason: 'revoked' })
const paid = chargeOf('paid', { state: 'captured' })
const poor = chargeOf('poor', { state: 'stored', reason: 'insufficientFunds' })
const sent = chargeOf('sent', { state: 'capturing' })
const asked = chargeOf('asked', { state: 'stored', sendDue: 0n })

test.each([
  ['no charge', [], due, false],
  ['decided charges', [poor, paid], due, false],
  ['a charge in flight', [poor, sent], 1001n, false],
  ['a charge to be sent', [asked, paid], 1001n, false],
  ['a revoked charge', [revoked, paid], 1060n, true],
  ['a revoked charge that expired', [expired], 1060n, true],
  ['a revoked charge below another refusal', [poor, revoked], 1060n, true],
  ['a charge that was paid since', [paid, revoked], due, false],
])('after %s, the next look is in time', (_, newest, next, isRevoked) => {
  expect(watch(newest)).toEqual([next, isRevoked])
})

test('the charge of the schedule itself asks for no look of its own', () => {
  expect(watch([asked], 'asked')).toEqual([due, false])
})

test('a look that is due sooner stays so', () => {
  const step = { row: { ...row, due: 1010n } }
  const watched = watchCharges(step, { newest: [revoked], now: 1000n })
  expect(watched.row.due).toBe(1010n)
})
