import { request as openRequest } from 'node:http'
import { expressPayment, honoPayment } from 'countersign/x402'
import express from 'express'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  serveApp,
  signFor,
} from '../../support/x402Desk.js'

const { gate } = await openGateShop()
const hono = new Hono()
hono.use('/raw', honoPayment(gate, 'work'))
hono.post('/raw', async (context) => context.text(await context.req.text()))

const urls: readonly (readonly [string, string])[] = [
  ['Hono', `${await serveApp(hono.fetch)}/raw`],
  [
    'Express',
    `${await serveExpress((app) => {
      const sold = expressPayment(gate, 'work')
      const parser = express.text({ type: '*/*' })
      app.post('/raw', sold, parser, (request, response) => {
        response.send(request.body)
      })
    })}/raw`,
  ],
]

const piece = Buffer.alloc(1_048_576, 1)
const mostPieces = 64

/**
 * Posts a body without end, piece by piece, until an answer comes. Returns the
 * status, or `undefined` when the server took all pieces without an answer.
 */
const postWithoutEnd = (
  url: string,
  headers: Record<string, string>,
): Promise<number | undefined> =>
  new Promise((resolve) => {
    const posted = openRequest(url, { method: 'POST', headers })
    const end = (status: number | undefined) => {
      resolve(status)
      posted.destroy()
    }
    // The server may close the connection right after its answer.
    posted.on('error', () => end(undefined))
    posted.on('response', ({ statusCode }) => end(statusCode))
    const send = (pieces: number) => {
      if (posted.destroyed) return
      if (pieces > mostPieces) end(undefined)
      else posted.write(piece, () => setTimeout(send, 0, pieces + 1))
    }
    send(1)
  })

test.each(urls)(
  '%s: an unpaid request is answered before its body ends',
  async (_, url) => {
    expect(await postWithoutEnd(url, {})).toBe(402)
  },
)

test.each(urls)(
  '%s: a paid request is refused where its body passes the limit',
  async (_, url) => {
    const account = await fundedAccount(chain, price)
    const asked = await fetch(url, { method: 'POST' })
    const header = await signFor(account, asked)
    const headers = { 'PAYMENT-SIGNATURE': header }
    expect(await postWithoutEnd(url, headers)).toBe(413)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test('Express: a request that was refused for its body can be sent again on the same connection', async () => {
  const [, [, url] = ['', '']] = urls
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await fetch(url, { method: 'POST' }))
  const headers = { 'PAYMENT-SIGNATURE': header }
  const post = (body: string) => fetch(url, { method: 'POST', body, headers })
  const refused = await post('1'.repeat(2_000_000))
  expect([refused.status, await refused.json()]).toEqual([
    413,
    { error: 'request_too_long' },
  ])
  const paid = await post('Ulm')
  expect([paid.status, await paid.text()]).toEqual([200, 'Ulm'])
})
