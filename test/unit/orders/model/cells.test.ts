import { expect, test } from 'vitest'
import {
  type Applied,
  apply,
  applyTaken,
  type Input,
  type Rules,
} from '../../../../src/orders/model/apply.js'
import { settleEarly } from '../../../../src/orders/model/changes.js'
import { moves } from '../../../../src/orders/model/moves.js'
import type { OrderRole } from '../../../../src/store/types.js'
import {
  type Cell,
  cellsOf,
  inputsFor,
  roles,
} from '../../support/everyCell.js'

const captures = ['manual', 'onAccept', 'beforeDeadline'] as const

/** The policies, one after the other. */
const rulesFor = (place: number): Rules => ({
  at: 1n,
  policy: {
    capture: captures[place % 3] ?? 'manual',
    relayCancellations: place % 2 === 0 ? 'always' : 'onApproval',
    deadlineNear: 995n,
  },
})

/** Inputs that change a state without an event of their own. */
const silent: readonly Input['kind'][] = ['loseNonce', 'renewRefund']

function judge(
  { role, stored, name }: Cell,
  input: Input,
  applied: Applied,
): void {
  const { refusal, ...changes } = applied
  const note = `${name} × ${input.kind}`
  if (refusal && refusal !== 'captureInFlight') {
    expect([...changes.orders, ...changes.events], note).toEqual([])
    return
  }
  expect(changes.orders.length, note).toBeLessThan(2)
  const before = stored.order
  const [after = before] = settleEarly(changes, 1n).orders
  expect(
    changes.events.map(({ sequence }) => sequence),
    note,
  ).toEqual(changes.events.map((_, place) => before.sequence + place + 1))
  if (after.state === before.state) return
  const made = Object.values(moves[role])
    .flat()
    .some(
      ({ from, to }) => from.includes(before.state) && to.includes(after.state),
    )
  expect(made, `${note} → ${after.state} is in the table`).toBe(true)
  if (!silent.includes(input.kind))
    expect(changes.events.length, `${note} is told`).toBeGreaterThan(0)
}

const ofOthers = ['giveUp', 'loseNonce', 'offer', 'renewRefund', 'revoke']
const common = [
  'accept',
  'acceptCancellation',
  'reauthorize',
  'recorded',
  'requestCapture',
  'void',
]
const refused = [...common, ...ofOthers].map((kind) => `${kind} notOpen`)

/** All refusals of a role: each is reached, and there is no other. */
const refusals: Readonly<Record<OrderRole, readonly string[]>> = {
  sale: [
    ...refused,
    'acceptCancellation captureInFlight',
    'acceptCancellation consumed',
    'acceptCancellation expired',
    'void captureInFlight',
  ],
  refund: refused,
  permission: refused,
  charge: [...refused, 'void captureInFlight'],
  movement: refused,
}

test.each(roles)(
  'every input in every cell of a %s is decided: a move of the table with its event, or a refusal that changes nothing',
  (role) => {
    let place = 0
    const cells = new Set<string>()
    const seen = new Set<string>()
    const made = new Set<string>()
    for (const cell of cellsOf(role))
      for (const input of inputsFor(cell)) {
        place += 1
        const applied = apply(cell.stored, input, rulesFor(place))
        judge(cell, input, applied)
        cells.add(`${cell.name} × ${input.kind}`)
        if (applied.refusal) seen.add(`${input.kind} ${applied.refusal}`)
        const [{ state: to } = cell.stored.order] = applied.orders
        made.add(`${cell.stored.order.state} → ${to}`)
      }
    // States × requests × kinds of input.
    expect(cells.size).toBe(9 * 4 * 28)
    expect([...seen].sort()).toEqual([...refusals[role]].sort())
    const possible = Object.values(moves[role])
      .flat()
      .flatMap(({ from, to }) =>
        from.flatMap((one) => to.map((other) => `${one} → ${other}`)),
      )
    expect(possible.filter((move) => !made.has(move))).toEqual([])
  },
)

test('what the chain shows is taken once: the same again changes no state and tells nothing', () => {
  for (const role of roles)
    for (const cell of cellsOf(role))
      for (const input of inputsFor(cell)) {
        if (
          !['capture', 'cancel', 'consumed', 'withdrawn'].includes(input.kind)
        )
          continue
        const rules = rulesFor(0)
        const first = apply(cell.stored, input, rules)
        const [order = cell.stored.order] = first.orders
        const proofs = [
          ...cell.stored.proofs.map(
            (row) =>
              first.proofs.find(
                (one) =>
                  one.logIndex === row.logIndex &&
                  one.transactionHash === row.transactionHash,
              ) ?? row,
          ),
          ...first.newProofs.map((row) => ({ ...row, version: 1 })),
        ]
        const [attempt = cell.stored.attempt] = first.attempts
        const now = { order, attempt, attempts: [attempt], proofs }
        const again = apply(now, input, rules)
        expect(again.events, `${cell.name} × ${input.kind}`).toEqual([])
      }
})

test('an input that the caller found to be taken throws where it is refused, so that nothing passes for done', () => {
  for (const role of roles)
    for (const cell of cellsOf(role)) {
      const input = { kind: 'recorded', call: 'capture' } as const
      const { refusal, ...changes } = apply(cell.stored, input, rulesFor(0))
      const take = () => applyTaken(cell.stored, input, rulesFor(0))
      if (refusal === undefined) expect(take()).toEqual(changes)
      else
        expect(take).toThrow(
          expect.objectContaining({
            name: 'TransitionError',
            message: `A ${role} in state ${cell.stored.order.state} refuses recorded.`,
          }),
        )
    }
})
