import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expressPayment } from 'countersign/x402'
import type { RequestHandler } from 'express'
import { beforeEach, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const { gate } = await openGateShop()
const file = fileURLToPath(new URL('../../../../LICENSE', import.meta.url))
let runs = 0
/** Called when a handler runs: the client leaves. */
let leave = () => {}
beforeEach(() => {
  runs = 0
})

/** A handler that answers only after its client left. */
const onceLeft =
  (answer: RequestHandler): RequestHandler =>
  (request, response, next) => {
    runs++
    request.socket.once('close', () => answer(request, response, next))
    leave()
  }

const url = await serveExpress((app) => {
  const sold = expressPayment(gate, 'upfront')
  app.get(
    '/json',
    sold,
    onceLeft((_, response) => {
      response.json({ sky: 'clear' })
    }),
  )
  app.get(
    '/sendFile',
    sold,
    onceLeft((_, response) => response.sendFile(file)),
  )
  app.get(
    '/pipe',
    sold,
    onceLeft((_, response) => {
      Readable.from(['the ', 'file']).pipe(response)
    }),
  )
  app.get('/pipedBefore', sold, (request, response) => {
    runs++
    const source = new Readable({ read: () => undefined })
    source.pipe(response)
    source.push('the ')
    request.socket.once('close', () => {
      source.push('file')
      source.push(null)
    })
    leave()
  })
})

test.each(['json', 'sendFile', 'pipe', 'pipedBefore'])(
  'Express: a client that left before %s answered gets the answer when it asks again',
  async (path) => {
    const account = await fundedAccount(chain, price)
    const address = `${url}/${path}`
    const header = await signFor(account, await fetch(address))
    const headers = { 'PAYMENT-SIGNATURE': header }
    const leaving = new AbortController()
    leave = () => leaving.abort()
    const left = fetch(address, { headers, signal: leaving.signal })
    await expect(left).rejects.toThrow()

    const again = await fetch(address, {
      headers,
      signal: AbortSignal.timeout(20_000),
    })
    expect(again.status).toBe(200)
    expect(await again.text()).not.toBe('')
    expect(settlementOf(again)).toMatchObject({ success: true })
    expect(runs).toBe(1)
    expect(await balanceOf(account.address)).toBe(0n)
  },
)
