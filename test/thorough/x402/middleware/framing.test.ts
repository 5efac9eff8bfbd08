import { expressPayment } from 'countersign/x402'
import express, { type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import { seenOf } from '../../../chain/support/answerCompare.js'
import {
  framingCases,
  handlersOf,
  type Thrown,
} from '../../../chain/support/framingCases.js'
import { compareFraming } from '../../../chain/support/framingExpress.js'
import { listen, openedGate } from '../../../unit/support/openedGate.js'

const seed = Number(process.env.COUNTERSIGN_SEED ?? 2)
const count = process.env.COUNTERSIGN_FULL ? framingCases.length : 200

const nameOf = (one: object) => Object.values(one).join(', ')

test(`Express answers and throws the same with a gate in all ${framingCases.length} cases`, async () => {
  const app = express()
  const thrown: Thrown[] = []
  /** One of the handlers of the case whose number the path ends with. */
  const handler =
    (pick: (of: ReturnType<typeof handlersOf>) => RequestHandler | undefined) =>
    (...[request, response, next]: Parameters<RequestHandler>) => {
      const index = Number(request.params.index)
      const one = framingCases[index]
      if (!one) return next()
      const found = pick(handlersOf(one, thrown[index] ?? []))
      return found?.(request, response, next)
    }
  const inFront = handler((of) => of.inFront)
  const behind = [
    handler(({ behind: [one] }) => one),
    handler(({ behind: [, two] }) => two),
  ]
  const gate = openedGate(() => undefined)
  app.get('/sold/:index', inFront, expressPayment(gate, 'work'), ...behind)
  app.get('/free/:index', inFront, ...behind)
  const url = await listen(app)
  const ask = async (kind: string, index: number) => {
    thrown[index] = []
    const response = await fetch(`${url}/${kind}/${index}`)
    return { seen: await seenOf(response), thrown: thrown[index] }
  }
  const differences: unknown[] = []
  for (const [index, one] of framingCases.entries()) {
    const free = await ask('free', index)
    const sold = await ask('sold', index)
    if (JSON.stringify(sold) !== JSON.stringify(free))
      differences.push({ name: nameOf(one), free, sold })
  }
  expect(differences).toEqual([])
})

test(`the refused, the paid and the repeated answer are the same in ${count} cases of COUNTERSIGN_SEED=${seed}`, async () => {
  const random = seededRandom(seed)
  const differences: unknown[] = []
  for (let at = 0; at < count; at++) {
    const index = Math.floor(random() * framingCases.length)
    const one = framingCases[index]
    if (!one) throw new Error('no case')
    const compared = await compareFraming(one)
    const { free, sold, kept = free, thrown, freeThrown } = compared
    const isSame =
      JSON.stringify([sold, kept, thrown]) ===
      JSON.stringify([free, free, freeThrown])
    if (!isSame) differences.push({ name: nameOf(one), ...compared })
  }
  expect(differences).toEqual([])
})
