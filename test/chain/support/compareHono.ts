import { honoPayment } from 'countersign/x402'
import { Hono } from 'hono'
import {
  type Compared,
  compareAnswers,
  type SeenAnswer,
} from './answerCompare.js'
import { fundedAccount } from './desk.js'
import type { AnswerCase } from './drawCases.js'
import { requests } from './expressCases.js'
import { honoHandlers, honoMiddleware } from './honoCases.js'
import { chain, openGateShop, price, serveApp } from './x402Desk.js'

export const honoParts = {
  middleware: Object.keys(honoMiddleware),
  handlers: Object.keys(honoHandlers),
  requests: Object.keys(requests),
}

const { gate } = await openGateShop({ mostOpen: 10_000 })
const payer = await fundedAccount(chain, 100_000n * price)
let app = new Hono()
const url = await serveApp((request) => app.fetch(request))

/**
 * Hono's server for Node adds a type to a text that has none. Whether and how
 * depends on who has looked at the response: any middleware changes that.
 */
const isAdded = (header: string): boolean =>
  /^content-type: text\/plain; ?charset=UTF-8$/.test(header)

const withoutAdded = (seen: SeenAnswer): SeenAnswer => ({
  ...seen,
  headers: seen.headers.filter((header) => !isAdded(header)),
})

/** Compares the answers of a Hono app with and without a gate. */
export async function compareHono(one: AnswerCase): Promise<Compared> {
  const { free, sold, kept, lengths } = await compare(one)
  return {
    free: withoutAdded(free),
    sold: withoutAdded(sold),
    kept: kept && withoutAdded(kept),
    lengths,
  }
}

function compare(one: AnswerCase): Promise<Compared> {
  const { inFront, behind, handler, request: name } = one
  const middleware = (names: readonly string[]) =>
    names.flatMap((each) => honoMiddleware[each] ?? [])
  const answer = honoHandlers[handler]
  const request = requests[name]
  if (!answer || !request) throw new Error('no such case')
  app = new Hono()
  for (const each of middleware(inFront)) app.use(each)
  app.use('/sold', honoPayment(gate, 'work'))
  for (const each of middleware(behind)) app.use(each)
  app.all('/sold', answer)
  app.all('/free', answer)
  app.onError((error, context) =>
    'getResponse' in error
      ? Object(error).getResponse()
      : context.json({ caught: error.message }, 500),
  )
  const urls = { free: `${url}/free`, sold: `${url}/sold` }
  return compareAnswers(payer, urls, request)
}
