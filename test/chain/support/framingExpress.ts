import { expressPayment } from 'countersign/x402'
import { Router } from 'express'
import { type Compared, compareAnswers } from './answerCompare.js'
import { fundedAccount } from './desk.js'
import { requests } from './expressCases.js'
import { serveExpress } from './expressServer.js'
import { type FramingCase, handlersOf, type Thrown } from './framingCases.js'
import { chain, openGateShop, price } from './x402Desk.js'

const { gate } = await openGateShop({ mostOpen: 10_000 })
const payer = await fundedAccount(chain, 100_000n * price)
let router = Router()
const url = await serveExpress((app) => {
  app.use((request, response, next) => router(request, response, next))
})

export type ComparedFraming = Compared & { thrown: Thrown; freeThrown: Thrown }

/** Compares an Express handler with and without a gate in front of it. */
export async function compareFraming(
  one: FramingCase,
): Promise<ComparedFraming> {
  const thrown: Thrown = []
  const freeThrown: Thrown = []
  // The middleware in front also runs for the requests that are refused and
  // repeated.
  const unheard: Thrown = []
  const sold = handlersOf(one, thrown)
  const free = handlersOf(one, freeThrown)
  const { inFront } = handlersOf(one, unheard)
  router = Router()
  router.get('/sold', inFront, expressPayment(gate, 'work'), ...sold.behind)
  router.get('/free', inFront, ...free.behind)
  const urls = { free: `${url}/free`, sold: `${url}/sold` }
  const { get = { method: 'GET', headers: {} } } = requests
  return { ...(await compareAnswers(payer, urls, get)), thrown, freeThrown }
}
