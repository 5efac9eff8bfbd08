import { nextPayment } from 'countersign/x402'
import { NextRequest } from 'next/server.js'
import { expect, test } from 'vitest'
import { seenOf } from '../../support/answerCompare.js'
import { fundedAccount } from '../../support/desk.js'
import { fetchHandlers, fetchRequests } from '../../support/fetchCases.js'
import { chain, openGateShop, price, signFor } from '../../support/x402Desk.js'

const { gate } = await openGateShop({ mostOpen: 1_000 })
const payer = await fundedAccount(chain, 1_000n * price)
const address = 'https://shop.example/work?day=1'

const cases = Object.entries(fetchHandlers).flatMap(([name, handler]) => {
  const asked = /body|request/i.test(name)
    ? Object.keys(fetchRequests)
    : ['get']
  return asked.map((request) => [name, request, handler] as const)
})

const sellers = [
  ['protect', gate.protect, Request],
  [
    'nextPayment',
    (offer: string, handler: (request: Request) => Promise<Response>) => {
      const sold = nextPayment(gate, offer, handler)
      return (request: Request) => sold(request, undefined)
    },
    NextRequest,
  ],
] as const

for (const [seller, sell, Made] of sellers)
  test.each(cases)(
    `${seller} gives the answer of %s to a request of %s as the handler gives it`,
    async (_, name, handler) => {
      const init = fetchRequests[name] ?? {}
      const { signal: _signal, ...rest } = init
      const ask = (header?: string) => {
        const headers = new Headers(rest.headers)
        if (header) headers.set('PAYMENT-SIGNATURE', header)
        return new Made(address, { ...rest, headers })
      }
      const sold = sell('work', async (request) => handler(request))
      const header = await signFor(payer, await sold(ask()))
      const free = await seenOf(await handler(ask()))
      const paid = await seenOf(await sold(ask(header)))
      expect(paid).toEqual(free)
      if (paid.status >= 400) return
      expect(await seenOf(await sold(ask(header)))).toEqual(free)
    },
  )
