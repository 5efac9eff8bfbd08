import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WebhookPayload } from 'countersign/webhooks'
import { Webhook } from 'standardwebhooks'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { webhookMessage } from '../../../src/webhooks/targets/webhookMessage.js'
import { readExamples } from '../support/docExamples.js'

const page = 'docs/webhooks.md'

type Page = {
  receive(
    request: Request,
    inbox: { keep(id: string, payload: unknown): Promise<void> },
  ): Promise<Response>
  isNews(payload: WebhookPayload, highest: ReadonlyMap<string, number>): boolean
  createSecret(): string
}

/** What the page has a reader copy, as modules beside the packages they import. */
async function loadPage(): Promise<Page> {
  const folder = join(process.cwd(), 'node_modules', '.countersign')
  mkdirSync(folder, { recursive: true })
  const names = ['receive', 'isNews', 'createSecret']
  const modules = names.map(async (name) => {
    const code = readExamples(page, readFileSync(page, 'utf8'))
      .map((example) => example.code)
      .find((text) => RegExp(`export .*\\b${name}\\b`).test(text))
    const { outputText } = ts.transpileModule(code ?? '', {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2022,
      },
    })
    const path = join(folder, `webhooks-${name}.mjs`)
    writeFileSync(path, outputText)
    return import(pathToFileURL(path).href)
  })
  return Object.assign({}, ...(await Promise.all(modules)))
}

const { receive, isNews, createSecret } = await loadPage()
const secret = createSecret()
process.env.WAREHOUSE_SECRET = secret

const { id, body } = webhookMessage({
  chainId: 8453,
  token: `0x${'a'.repeat(40)}`,
  recipient: `0x${'b'.repeat(40)}`,
  cursor: 12n,
  orderId: 'order-1',
  sequence: 3,
  type: 'fulfil',
  at: 1_760_000_000_123n,
  data: { fulfilmentId: '0x1:2', finality: 'safe' },
})

/** What is kept of a request by the page's receiver, and what it answers. */
async function send(
  changes: { text?: string; at?: Date; by?: string; fails?: boolean } = {},
): Promise<{ status: number; kept: [string, unknown][] }> {
  const { text = body, at = new Date(), by = secret, fails } = changes
  const kept: [string, unknown][] = []
  const request = new Request('https://warehouse.example/payments', {
    method: 'POST',
    body: text,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(by).sign(id, at, body),
    },
  })
  const { status } = await receive(request, {
    keep: async (...it) => {
      if (fails) throw new Error('no space')
      kept.push(it)
    },
  })
  return { status, kept }
}

test('the receiver of the page keeps what is signed, under its id', async () => {
  expect(await send()).toEqual({ status: 204, kept: [[id, JSON.parse(body)]] })
})

test.each([
  ['changed', { text: body.replace('order-1', 'order-2') }],
  ['signed by somebody else', { by: createSecret() }],
  ['repeated an hour later', { at: new Date(Date.now() - 3_600_000) }],
])('the receiver of the page refuses what is %s', async (_, changes) => {
  expect(await send(changes)).toEqual({ status: 401, kept: [] })
})

test('the receiver of the page asks for what it could not keep again', async () => {
  expect(await send({ fails: true })).toEqual({ status: 500, kept: [] })
})

test('the page knows an older event from a newer one', () => {
  const payload: WebhookPayload = JSON.parse(body)
  const highest = (sequence: number) => new Map([['order-1', sequence]])
  expect(isNews(payload, new Map())).toBe(true)
  expect(isNews(payload, highest(2))).toBe(true)
  expect(isNews(payload, highest(3))).toBe(false)
  expect(isNews(payload, highest(4))).toBe(false)
})
