import { NodeAnswerError } from 'countersign'
import type { LedgerRow, Orders } from 'countersign/orders'
import { expect, test, vi } from 'vitest'
import { openStub, reasonOf } from '../support/httpStub.js'
import { sampleRow } from '../support/ledgerRow.js'

const path = '/payments/merchant/ledger'

type Asked = NonNullable<Parameters<Orders['ledger']>[0]>

/** A handler over these rows, and what was asked of them. */
function openBooks(rows: (given: Asked) => AsyncGenerator<LedgerRow>) {
  const asked: Asked[] = []
  const ask = openStub({
    ledger: (given = {}) => {
      asked.push(given)
      return rows(given)
    },
  })
  return { ask, asked }
}

async function* two(): AsyncGenerator<LedgerRow> {
  yield sampleRow()
  yield sampleRow({ orderId: 'order-2' })
}

test.each([
  ['', 'text/csv', 'books.csv', /^type,.*\r\ncapture,.*\r\ncapture,.*\r\n$/],
  ['?format=csv', 'text/csv', 'books.csv', /^type,/],
  [
    '?format=jsonLines',
    'application/x-ndjson',
    'books.jsonl',
    /^\{.*\}\n\{.*order-2.*\}\n$/,
  ],
  [
    '?format=hledger',
    'text/plain',
    'books.journal',
    /^decimal-mark [\s\S]*order-2/,
  ],
])('the books of %s are a file of type %s', async (query, type, name, text) => {
  const { ask } = openBooks(two)
  const answer = await ask(path + query)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="${name}"`,
  )
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(await answer.text()).toMatch(text)
})

test('range and transfers are passed on, and nothing is asked without them', async () => {
  const { ask, asked } = openBooks(two)
  await (await ask(path)).text()
  await (await ask(`${path}?from=1&to=20&transfers=true`)).text()
  expect(asked).toMatchObject([
    { from: undefined, to: undefined, transfers: false },
    { from: 1n, to: 20n, transfers: true },
  ])
})

test.each(['?format=xml', '?from=-1', '?to=1.5', '?transfers=1', '?limit=2'])(
  '%s is refused',
  async (query) => {
    const { ask, asked } = openBooks(two)
    expect(await reasonOf(ask(path + query))).toMatchObject([
      400,
      'invalidField',
      expect.any(String),
    ])
    expect(asked).toEqual([])
  },
)

/** Yields so many rows, and then the node fails. */
async function* failAfter(count: number): AsyncGenerator<LedgerRow> {
  for (let at = 0; at < count; at++) yield sampleRow()
  throw new NodeAnswerError({ method: 'eth_getLogs', problem: 'is broken' })
}

test('a fault before the first row is a problem, and a later one breaks the file off', async () => {
  const early = openBooks(() => failAfter(0))
  expect(await reasonOf(early.ask(path))).toEqual([503, 'nodeUnavailable'])
  const late = openBooks(() => failAfter(1))
  const answer = await late.ask(path)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
})

test('rows are read only as fast as the reader takes them, and end when it leaves', async () => {
  let read = 0
  let hasEnded = false
  const { ask, asked } = openBooks(async function* () {
    try {
      for (;;) {
        read++
        yield sampleRow()
      }
    } finally {
      hasEnded = true
    }
  })
  const { body } = await ask(path)
  expect(read).toBe(1)
  const reader = body?.getReader()
  await reader?.read()
  const first = read
  expect(first).toBeLessThan(200)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(read).toBe(first)
  await reader?.cancel()
  expect(hasEnded).toBe(true)
  expect(asked[0]?.signal?.aborted).toBe(true)
})

test('a client that leaves before the first row or in the middle ends the reading', async () => {
  for (const rowsBefore of [0, 1]) {
    const { ask, asked } = openBooks(async function* ({ signal }) {
      for (let at = 0; at < rowsBefore; at++) yield sampleRow()
      await new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => resolve())
        if (signal?.aborted) resolve()
      })
      throw signal?.reason
    })
    const leaving = new AbortController()
    const answer = ask(path, { signal: leaving.signal })
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    const text = rowsBefore ? (await answer).text() : undefined
    text?.catch(() => undefined)
    leaving.abort()
    await answer
    await text?.catch(() => undefined)
    expect(asked[0]?.signal?.aborted).toBe(true)
  }
})

test('a page of another site cannot have the books read', async () => {
  const { ask, asked } = openBooks(two)
  const from = (site: string) =>
    ask(path, { headers: { 'sec-fetch-site': site } })
  expect(await reasonOf(from('cross-site'))).toEqual([403, 'crossSite'])
  expect(asked).toEqual([])
  await from('same-origin')
  expect(asked).toHaveLength(1)
})
