import { memoryStore } from 'countersign/store'
import { expressPayment, honoPayment, nextPayment } from 'countersign/x402'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { seenOf } from '../../support/answerCompare.js'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  chain,
  openGateShop,
  price,
  serveApp,
  signFor,
} from '../../support/x402Desk.js'

const store = memoryStore()
const { gate } = await openGateShop(
  { mostOpen: 1_000 },
  { store, seal: 'none' },
)
const payer = await fundedAccount(chain, 1_000n * price)

/** Headers that Node refuses next to others, or that change the framing. */
const fields: readonly (readonly [string, string])[] = [
  ['trailer', 'x-t'],
  ['transfer-encoding', 'chunked'],
  ['content-length', '3'],
  ['connection', 'close'],
  ['keep-alive', 'timeout=1'],
  ['upgrade', 'h2c'],
  ['expect', '100-continue'],
  ['x-odd', 'caf\u00e9'],
]
const bodies: Readonly<Record<string, () => BodyInit | null>> = {
  text: () => 'abc',
  bytes: () => Uint8Array.of(97, 98, 99),
  stream: () => new Blob(['abc']).stream(),
}
const cases = fields.flatMap(([name, value]) =>
  Object.entries(bodies).map(
    ([kind, body]) =>
      [
        `${name} with ${kind}`,
        () => new Response(body(), { headers: { [name]: value } }),
      ] as const,
  ),
)

/** The refused, the paid and the repeated answer. */
async function buy(ask: (headers: HeadersInit) => Promise<Response>) {
  const refused = await ask({})
  const headers = { 'PAYMENT-SIGNATURE': await signFor(payer, refused) }
  const paid = await seenOf(await ask(headers))
  return { refused, paid, repeated: await seenOf(await ask(headers)) }
}

test.each(cases)(
  'an answer of fetch and of Next.js with %s is repeated as it was',
  async (_, answer) => {
    const free = await seenOf(answer())
    const next = nextPayment(gate, 'work', answer)
    for (const sold of [
      gate.protect('work', answer),
      (request: Request) => next(request, undefined),
    ]) {
      const { paid, repeated } = await buy((headers) =>
        sold(new Request('https://shop.example/work', { headers })),
      )
      expect([paid, repeated]).toEqual([free, free])
    }
  },
)

// Hono's server for Node ends the process at some of these without a gate.
test.each([
  ...cases,
  [
    'a control character',
    () => new Response('abc', { headers: { 'x-odd': 'a\u0001b' } }),
  ] as const,
])('Hono sends an answer with %s, and repeats it', async (_, answer) => {
  const app = new Hono()
  app.get('/', honoPayment(gate, 'work'), answer)
  const url = await serveApp((request) => app.fetch(request))
  const { paid, repeated } = await buy((headers) => fetch(url, { headers }))
  expect(paid).toMatchObject({ status: 200, body: 'abc' })
  expect(repeated).toEqual(paid)
})

test.each(['trailer', 'upgrade'])(
  'Hono middleware in front that sets %s does not keep the gate from answering',
  async (name) => {
    const app = new Hono()
    app.use(async (context, next) => {
      context.header(name, 'x-t')
      await next()
    })
    app.get('/', honoPayment(gate, 'work'), (context) => context.text('abc'))
    const url = await serveApp((request) => app.fetch(request))
    const { refused, paid, repeated } = await buy((headers) =>
      fetch(url, { headers }),
    )
    expect(refused.status).toBe(402)
    expect(paid).toMatchObject({ status: 200, body: 'abc' })
    expect(repeated).toEqual(paid)
  },
)

/** Adds headers to every kept answer, as an earlier version has stored them. */
async function addToKept(added: readonly (readonly [string, string])[]) {
  const notes = await store.read((tables) =>
    tables.notes.find({ over: 2n ** 62n, limit: 1_000 }),
  )
  const changed = notes.flatMap((note) => {
    const { answer } = note.data
    if (typeof answer !== 'string') return []
    const at = answer.indexOf('{')
    const kept = JSON.parse(answer.slice(at))
    kept.headers.push(...added)
    const text = answer.slice(0, at) + JSON.stringify(kept)
    return [{ ...note, data: { ...note.data, answer: text } }]
  })
  await store.write(({ notes: table }) => table.update(changed))
}

test('an answer that an earlier version kept with its trailers and length is repeated', async () => {
  const url = await serveExpress((app) => {
    app.get('/', expressPayment(gate, 'work'), (_, response) => {
      response.send('abc')
    })
  })
  const header = await signFor(payer, await fetch(url))
  const ask = async () =>
    seenOf(await fetch(url, { headers: { 'PAYMENT-SIGNATURE': header } }))
  const paid = await ask()
  await addToKept([
    ['trailer', 'x-t'],
    ['content-length', '9'],
    ['transfer-encoding', 'chunked'],
  ])
  expect(await ask()).toEqual(paid)
})
