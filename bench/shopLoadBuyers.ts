import { once } from 'node:events'
import process from 'node:process'
import { decodePayment, encodePayment } from 'countersign'
import type { DraftedPayment } from 'countersign/orders'
import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { sendLast } from './childMessages.js'
import { signWith } from './ordersShop.js'

/** What the buyers are told: where the shop is, and who they are. */
export type Crowd = {
  url: string
  merchantKey: string
  keys: readonly Hex[]
  /** Milliseconds in which orders are begun. */
  duration: number
}

type Step = 'create' | 'read' | 'sign' | 'post' | 'captured'

/** Milliseconds each step took, and what went wrong. */
export type CrowdReport = {
  times: Record<Step, number[]>
  /** Orders that their buyer saw captured. */
  captured: string[]
  errors: string[]
}

type Shop = Pick<Crowd, 'url' | 'merchantKey'>

/** Buyers in a process of their own, each buying one thing after another. */
const [told] = await once(process, 'message')
const { keys, duration, ...shop }: Crowd = told
const report: CrowdReport = {
  times: { create: [], read: [], sign: [], post: [], captured: [] },
  captured: [],
  errors: [],
}
const end = performance.now() + duration
await Promise.all(keys.map((key) => buyOn(privateKeyToAccount(key))))
await sendLast(report)

async function buyOn(buyer: PrivateKeyAccount): Promise<void> {
  while (performance.now() < end)
    try {
      report.captured.push(await buy(shop, buyer))
    } catch (error) {
      report.errors.push(String(error))
    }
}

async function timed<result>(
  step: Step,
  work: () => Promise<result>,
): Promise<result> {
  const start = performance.now()
  const result = await work()
  report.times[step].push(performance.now() - start)
  return result
}

type Created = { order: { id: string }; buyerToken: string }

/** From the shop's own page to the capture seen in the buyer's. */
async function buy(
  { url, merchantKey }: Shop,
  buyer: PrivateKeyAccount,
): Promise<string> {
  const { order, buyerToken } = await timed('create', () =>
    ask<Created>(`${url}/merchant/orders`, merchantKey, { amount: '1' }),
  )
  const place = `${url}/orders/${order.id}`
  const { payment } = await timed('read', () =>
    ask<{ payment: DraftedPayment }>(`${place}/payment`, buyerToken),
  )
  const signed = await timed('sign', async () => {
    const message = { ...payment.message, from: buyer.address }
    return signWith(buyer, decodePayment({ ...payment, message }))
  })
  await timed('post', () =>
    ask(`${place}/payment`, buyerToken, JSON.parse(encodePayment(signed))),
  )
  await timed('captured', () => seeCaptured(`${place}/events`, buyerToken))
  return order.id
}

async function ask<body>(
  url: string,
  bearer: string,
  body?: unknown,
): Promise<body> {
  const authorization = `Bearer ${bearer}`
  const response = await fetch(
    url,
    body === undefined
      ? { headers: { authorization } }
      : {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        },
  )
  if (!response.ok)
    throw new Error(`${response.status}: ${await response.text()}`)
  // The routes are asked for what they are said to answer.
  return (await response.json()) as body
}

/** Follows the order until it is captured, coming back when cut off. */
async function seeCaptured(url: string, bearer: string): Promise<void> {
  let lastEventId = ''
  for (;;) {
    const headers = {
      authorization: `Bearer ${bearer}`,
      ...(lastEventId ? { 'last-event-id': lastEventId } : {}),
    }
    const response = await fetch(url, { headers })
    if (!response.ok || !response.body)
      throw new Error(`${response.status}: ${await response.text()}`)
    const text = await readUntilCaptured(response.body)
    if (text === undefined) return
    lastEventId = [...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? lastEventId
  }
}

/** What came before the stream ended; nothing once it says captured. */
async function readUntilCaptured(
  body: ReadableStream<Uint8Array>,
): Promise<string | undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
    if (!text.includes('"state":"captured"')) continue
    await reader.cancel()
    return undefined
  }
}
