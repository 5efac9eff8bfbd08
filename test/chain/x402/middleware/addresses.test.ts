import { connect } from 'node:net'
import { expressPayment } from 'countersign/x402'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { serveExpress } from '../../support/expressServer.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  signFor,
} from '../../support/x402Desk.js'

const { gate } = await openGateShop()
const serve = (trusted: boolean) =>
  serveExpress((app) => {
    app.set('trust proxy', trusted)
    app.get('/work', expressPayment(gate, 'work'), ({ host }, response) => {
      response.send(host)
    })
  })
const behindProxy = await serve(true)
const open = await serve(false)

/** Sends a request as it is, and returns the answer. */
const sendRaw = (url: string, lines: readonly string[]): Promise<Response> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      const [start = '', ...fields] = head.split('\r\n')
      const headers = fields.map((field): [string, string] => {
        const at = field.indexOf(':')
        return [field.slice(0, at), field.slice(at + 1).trim()]
      })
      const status = Number(start.split(' ')[1]) || 599
      resolve(new Response(body, { status, headers }))
    })
    socket.write([...lines, 'Connection: close', '', ''].join('\r\n'))
  })

const get = (target: string, ...lines: string[]) => [
  `GET ${target} HTTP/1.1`,
  ...lines,
]

test.each([
  ['its Host', 'http://shop.example:8080/work?a=1', [], open],
  [
    'its Host, because nobody trusts the proxy',
    'http://shop.example:8080/work?a=1',
    ['X-Forwarded-Host: other.example', 'X-Forwarded-Proto: https'],
    open,
  ],
  [
    'the host before a trusted proxy',
    'https://other.example/work?a=1',
    ['X-Forwarded-Host: other.example, inner', 'X-Forwarded-Proto: https'],
    behindProxy,
  ],
])('the resource of a request has %s', async (_, resource, lines, url) => {
  const host = 'Host: shop.example:8080'
  const asked = await sendRaw(url, get('/work?a=1', host, ...lines))
  expect(asked.status).toBe(402)
  expect(requiredBy(asked).resource.url).toBe(resource)
})

test.each([
  [open, [], 'http://whole.example:81/work?a=1'],
  [
    behindProxy,
    ['X-Forwarded-Host: other.example'],
    'http://other.example/work?a=1',
  ],
])(
  'a target with scheme and host names the resource, unless a trusted proxy does',
  async (url, lines, resource) => {
    const target = 'http://whole.example:81/work?a=1'
    const host = 'Host: shop.example'
    const asked = await sendRaw(url, get(target, host, ...lines))
    expect(asked.status).toBe(402)
    expect(requiredBy(asked).resource.url).toBe(resource)
  },
)

test('a target with scheme and host can be paid for', async () => {
  const account = await fundedAccount(chain, price)
  const request = get('http://whole.example/work', 'Host: shop.example')
  const header = await signFor(account, await sendRaw(open, request))
  const paid = [...request, `PAYMENT-SIGNATURE: ${header}`]
  expect((await sendRaw(open, paid)).status).toBe(200)
  expect(await balanceOf(account.address)).toBe(0n)
})

test.each(['a b', 'a/b', 'a?b', 'a#b', 'a\\b', 'u@b', 'u:p@b', 'a:1x'])(
  'a request whose host is "%s" is malformed',
  async (host) => {
    for (const [url, line] of [
      [open, `Host: ${host}`],
      [behindProxy, `Host: shop.example\r\nX-Forwarded-Host: ${host}`],
    ] as const) {
      const response = await sendRaw(url, get('/work', line))
      expect([response.status, await response.json()]).toEqual([
        400,
        { error: 'malformed_request' },
      ])
    }
  },
)

test('an address that no payment header has room for is refused', async () => {
  const asked = await fetch(`${open}/work?${'a'.repeat(4_000)}`)
  expect(asked.status).toBe(402)
  const response = await fetch(`${open}/work?${'a'.repeat(6_000)}`)
  expect([response.status, await response.json()]).toEqual([
    414,
    { error: 'address_too_long' },
  ])
})

test('the longest address that is sold can be paid for', async () => {
  let longest = 0
  for (let step = 4_096; step >= 1; step /= 2) {
    const { status } = await fetch(`${open}/work?${'a'.repeat(longest + step)}`)
    if (status === 402) longest += step
  }
  const url = `${open}/work?${'a'.repeat(longest)}`
  const account = await fundedAccount(chain, price)
  const header = await signFor(account, await fetch(url))
  const response = await fetch(url, {
    headers: { 'PAYMENT-SIGNATURE': header },
  })
  expect(response.status).toBe(200)
})
