import type { Wallet } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import { clientsOf } from '../support/clientServer.js'

const url = 'https://shop.test'
const foreign = { name: 'ServerError', status: 200, retryable: false }
const megabyte = 2 ** 20

/**
 * Clients of a server that sends one text again and again, as fast as it is
 * read, and ignores signals. Stops after 200 MB.
 */
function openFlood(text: string, begin = '') {
  const encoder = new TextEncoder()
  const chunk = encoder.encode(text)
  const flood = { sent: 0, requests: 0 }
  const fetch = async () => {
    flood.requests += 1
    let first = true
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (first && begin) controller.enqueue(encoder.encode(begin))
        first = false
        if (flood.sent > 200 * megabyte) return controller.close()
        flood.sent += chunk.length
        controller.enqueue(chunk)
      },
    })
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(body, { headers })
  }
  return { ...clientsOf({ url, fetch }), flood }
}

test.each([
  ['a line without an end', 'a'.repeat(megabyte), 'data: '],
  ['a line without an end, in one piece', 'a'.repeat(8 * megabyte), 'id: '],
  ['an event without an end', 'data: text\n'.repeat(10_000), ''],
  ['an event with comments but without an end', 'data: text\n:\n', ''],
])('%s is a typed error after a few megabytes', async (_, text, begin) => {
  const { merchant, flood } = openFlood(text, begin)
  await expect(merchant.follow().next()).rejects.toMatchObject(foreign)
  expect(flood.requests).toBe(1)
  expect(flood.sent).toBeLessThan(20 * megabyte)
})

test('a long stream of short events and comments is none', async () => {
  const event = `: ${'c'.repeat(200)}\n\nid: 7\ndata: {"order":{}}\n\n`
  const { merchant, flood } = openFlood(event.repeat(1_000))
  for await (const _ of merchant.follow()) if (flood.sent > 5 * megabyte) break
  expect(flood.requests).toBe(1)
})

test('an answer without an end is a typed error', async () => {
  const { buyer } = openFlood('a'.repeat(megabyte), '{"state":"')
  await expect(buyer.get()).rejects.toMatchObject(foreign)
})

test('a signal ends a stream at once, however fast the server sends', async () => {
  const { merchant, flood } = openFlood(': nothing\n'.repeat(10_000))
  const stop = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => stop.abort(reason), 1)
  await expect(merchant.follow({ signal: stop.signal }).next()).rejects.toBe(
    reason,
  )
  expect(flood.sent).toBeLessThan(150 * megabyte)
})

test('a signal ends a stream between two events that came together', async () => {
  const { buyer } = openFlood('data: {"order":{}}\n\n'.repeat(3))
  const stop = new AbortController()
  const events = buyer.follow({ signal: stop.signal })
  await events.next()
  const reason = new Error('enough')
  stop.abort(reason)
  await expect(events.next()).rejects.toBe(reason)
})

test('a signal ends every request at once, even if fetch ignores it', async () => {
  const { buyer, merchant } = clientsOf({
    url,
    fetch: () => new Promise(() => {}),
  })
  const stop = new AbortController()
  const { signal } = stop
  const reason = new Error('the page is closed')
  const asked = [
    buyer.get({ signal }),
    buyer.follow({ signal }).next(),
    merchant.draft({ amount: '1', signal }),
    merchant.list({ signal }).next(),
    merchant.follow({ signal }).next(),
    merchant.ledger({ signal }),
    merchant.audit({ fromBlock: 1n, signal }),
  ].map((call) => call.catch((error: unknown) => error))
  stop.abort(reason)
  expect(await Promise.all(asked)).toEqual(asked.map(() => reason))
})

test('a signal ends the ledger that is read, even if fetch ignores it', async () => {
  const { merchant } = clientsOf({
    url,
    fetch: async () => new Response(new ReadableStream()),
  })
  const stop = new AbortController()
  const { signal } = stop
  const ledger = await merchant.ledger({ signal })
  const reading = new Response(ledger).text()
  const reason = new Error('the page is closed')
  stop.abort(reason)
  await expect(reading).rejects.toBe(reason)
})

test('a signal ends a payment while the wallet does not answer', async () => {
  const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const payment = samplePayment({ from: account.address })
  let asked = 0
  const stop = new AbortController()
  const reason = new Error('the page is closed')
  const wallet: Wallet = {
    account: { address: account.address, type: 'json-rpc' },
    request: () => {
      asked += 1
      stop.abort(reason)
      return new Promise(() => {})
    },
  }
  const { domain, message } = payment
  const { buyer } = clientsOf({
    url,
    fetch: async () => new Response(toJson({ payment })),
  })
  await expect(
    buyer.pay(wallet, {
      signal: stop.signal,
      expect: {
        chainId: domain.chainId,
        token: domain.verifyingContract,
        name: domain.name,
        version: domain.version,
        to: message.to,
        amount: '12.50',
        maxWindow: 2n ** 64n,
      },
    }),
  ).rejects.toBe(reason)
  expect(asked).toBe(1)
})
