import { expressPayment } from 'countersign/x402'
import { Router } from 'express'
import { type Compared, compareAnswers } from './answerCompare.js'
import { fundedAccount } from './desk.js'
import type { AnswerCase } from './drawCases.js'
import {
  answerError,
  expressHandlers,
  expressMiddleware,
  requests,
} from './expressCases.js'
import { serveExpress } from './expressServer.js'
import { chain, openGateShop, price } from './x402Desk.js'

export const expressParts = {
  middleware: Object.keys(expressMiddleware),
  handlers: Object.keys(expressHandlers),
  requests: Object.keys(requests),
}

const { gate } = await openGateShop({ mostOpen: 10_000 })
const payer = await fundedAccount(chain, 100_000n * price)
let router = Router()
const url = await serveExpress((app) => {
  app.use((request, response, next) => router(request, response, next))
})

/** Compares the answers of an Express app with and without a gate. */
export function compareExpress(one: AnswerCase): Promise<Compared> {
  const { inFront, behind, handler, request: name } = one
  const middleware = (names: readonly string[]) =>
    names.flatMap((each) => expressMiddleware[each] ?? [])
  const answer = expressHandlers[handler]
  const request = requests[name]
  if (!answer || !request) throw new Error('no such case')
  const rest = [...middleware(behind), answer]
  router = Router()
  router.all(
    '/sold',
    ...middleware(inFront),
    expressPayment(gate, 'work'),
    ...rest,
  )
  router.all('/free', ...middleware(inFront), ...rest)
  router.use((_, response) => {
    response.status(404).send('nothing here')
  })
  router.use(answerError)
  const urls = { free: `${url}/free`, sold: `${url}/sold` }
  return compareAnswers(payer, urls, request)
}
