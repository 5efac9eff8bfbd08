import fc from 'fast-check'
import { expect } from 'vitest'
import { moves } from '../../../src/orders/model/moves.js'
import { History, type Rules, type Step, steps } from './history.js'

const rules = fc.record<Rules>({
  capture: fc.constantFrom('manual', 'onAccept', 'beforeDeadline'),
  relayCancellations: fc.constantFrom('always', 'onApproval'),
  fulfilAt: fc.constantFrom('included', 'safe', 'finalized'),
})

/**
 * Uniform drawing rarely gets past the first steps, so a history is made of
 * short passages that lead somewhere, with single steps in between.
 */
const passages: readonly (readonly Step[])[] = [
  ['accept', 'capture', 'send'],
  ['accept', 'captureEarly', 'send', 'preconfirm'],
  ['mine', 'settle'],
  ['mine', 'settle', 'safe'],
  ['reorg', 'unsettle'],
  ['reorg', 'settle', 'strangerSubmits', 'settle'],
  ['cancel', 'approve', 'send'],
  ['buyerCancels', 'settle', 'final', 'renew', 'accept'],
  ['strangerSubmits', 'settle'],
  ['over', 'settle'],
  ['over', 'settle', 'back', 'strangerSubmits', 'settle'],
  ['cancel', 'approve', 'send', 'mine', 'settle', 'reorg', 'unsettle'],
  ['send', 'over', 'drop'],
  ['accept', 'void', 'strangerSubmits', 'settle', 'move', 'settle', 'safe'],
  ['buyerCancels', 'settle', 'renew', 'accept', 'strangerSubmits', 'settle'],
  ['reorgFirst', 'unsettle', 'strangerSubmits', 'settle'],
  ['capture', 'send', 'void', 'fail'],
  ['capture', 'send', 'void', 'mine', 'settle', 'reorg', 'unsettle'],
  ['buyerSpends', 'settle', 'reorg', 'buyerCancels', 'settle'],
  ['buyerCancels', 'settle', 'reorg', 'buyerSpends', 'settle'],
  ['final', 'over', 'settle'],
  ['send', 'void', 'cancel', 'approve', 'mine', 'settle', 'reorg', 'unsettle'],
  ['strangerSubmits', 'settle', 'over', 'reorg', 'unsettle'],
  ['accept', 'cancel', 'approve', 'send', 'buyerSpends', 'settle'],
  ['accept', 'cancel', 'approve', 'send', 'over', 'drop'],
  ['accept', 'cancel', 'approve', 'send', 'fail'],
  ['over', 'settle', 'back', 'buyerSpends', 'settle'],
  ['over', 'settle', 'back', 'buyerCancels', 'settle'],
]

const history = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...passages) },
    { weight: 3, arbitrary: fc.constantFrom(...steps).map((step) => [step]) },
  ),
  { minLength: 1, maxLength: 10 },
)

/** What must hold after every step. */
function check(world: History, step: Step, before: History['stored']): void {
  const { order, attempts, proofs } = world.stored
  const note = `after ${step}`
  const events = world.events.map(({ sequence }) => sequence)
  expect(events, note).toEqual(events.map((_, place) => place + 1))
  if (order.state !== before.order.state)
    expect(order.sequence, `${note}: a new state has an event`).toBeGreaterThan(
      before.order.sequence,
    )
  const standing = proofs.filter(
    ({ kind, removed }) => kind === 'capture' && !removed,
  )
  // One payment nonce pays once.
  for (const { number } of attempts)
    expect(
      standing.filter(({ attempt }) => attempt === number).length,
      note,
    ).toBeLessThan(2)
  if (order.state === 'captured')
    expect(standing.length, `${note}: captured has a proof`).toBeGreaterThan(0)
  if (order.fulfilled !== undefined && before.order.fulfilled === undefined)
    expect(
      standing.map(({ transactionHash }) => `one/${transactionHash}`),
      `${note}: fulfilled by a standing proof`,
    ).toContain(order.fulfilled)
  if (order.early === 'reserved' || order.early === 'answered')
    expect(
      ['capturing', 'canceling', 'drafted', 'stored'],
      `${note}: nothing stays at risk`,
    ).toContain(order.state)
  // Somebody looks at what is not decided.
  const isOpen = ['drafted', 'stored', 'capturing', 'canceling'].includes(
    order.state,
  )
  if (isOpen || (order.state === 'voided' && !order.finality))
    expect(
      order.lookDue ?? order.sendDue,
      `${note}: ${order.state} is looked at again`,
    ).toBeDefined()
  if (order.needsReview)
    expect(['stored', 'capturing', 'canceling'], note).toContain(order.state)
  if (order.state === 'expired' && order.finality !== 'finalized')
    expect(order.lookDue, `${note}: an end is looked at again`).toBeDefined()
  const isServed = order.fulfilled !== undefined || order.early !== undefined
  const isWanted = isServed || order.requested === 'cancel'
  if (world.isGivenUp && !isWanted && order.state !== before.order.state)
    expect(
      ['stored', 'capturing'],
      `${note}: nothing given up is captured`,
    ).not.toContain(order.state)
}

/** Takes all that is left to happen, and compares record and chain. */
function end(world: History): void {
  world.unsettle()
  world.settle()
  world.drop()
  world.over()
  world.settle()
  world.settle()
  const { order, proofs } = world.stored
  const uses = [...world.chain]
  const paid = uses.filter(([, { kind }]) => kind === 'capture')
  const recorded = proofs.filter(
    ({ kind, removed }) => kind === 'capture' && !removed,
  )
  expect(recorded.length, 'money on chain is money on record').toBe(paid.length)
  const count = (type: string) =>
    world.events.filter((event) => event.type === type).length
  expect(count('fulfil'), 'fulfilled once').toBeLessThan(2)
  if (paid.length > 0) {
    expect(order.state).toBe('captured')
    expect(order.overpaid).toBe(paid.length > 1)
    if (order.overpaid) expect(count('overpaid')).toBeGreaterThan(0)
    if (order.unexpected) {
      expect(count('refundDue'), 'refund is due').toBeGreaterThan(0)
      expect(order.fulfilled, 'unexpected is not fulfilled').toBeUndefined()
    }
    expect([undefined, 'paid'], 'the answer is paid').toContain(order.early)
    return
  }
  if (order.fulfilled !== undefined)
    expect(count('lossAfterFulfilment'), 'loss is told').toBeGreaterThan(0)
  expect([undefined, 'unpaid'], 'the answer is unpaid').toContain(order.early)
  if (order.early) expect(count('servedUnpaid')).toBeGreaterThan(0)
  const kind = world.chain.get(order.attempt)?.kind
  const ends = { cancel: ['canceled'], consumed: ['consumed'] }
  const expected =
    kind === 'cancel' || kind === 'consumed'
      ? ends[kind]
      : ['expired', 'voided']
  expect(expected, 'every order ends').toContain(order.state)
}

/** What a run of histories came by. */
type Seen = { taken: Set<Step>; made: Set<string> }

function play(
  world: History,
  passed: readonly (readonly Step[])[],
  { taken, made }: Seen,
): void {
  for (const step of passed.flat()) {
    const before = world.stored
    if (!world.take(step)) continue
    taken.add(step)
    const { state: from } = before.order
    const { state: to } = world.stored.order
    if (from !== to) made.add(`${from} → ${to}`)
    check(world, step, before)
  }
  end(world)
}

/**
 * Draws histories of a sale and judges each after every step. Fails also if one
 * of the steps was never taken, or a move of the table was never made.
 */
export function judgeHistories(numRuns: number, seed: number): void {
  const seen: Seen = { taken: new Set(), made: new Set() }
  const property = fc.property(rules, history, (drawn, passed) =>
    play(new History(drawn), passed, seen),
  )
  fc.assert(property, { numRuns, seed })
  expect(steps.filter((step) => !seen.taken.has(step))).toEqual([])
  const possible = Object.values(moves.sale)
    .flat()
    .flatMap(({ from, to }) =>
      from.flatMap((one) => to.map((other) => `${one} → ${other}`)),
    )
  expect(possible.filter((move) => !seen.made.has(move))).toEqual([])
}
