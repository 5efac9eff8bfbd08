import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NodeAnswerError, NodeError } from 'countersign'
import {
  createClient,
  type Hex,
  http,
  numberToHex,
  RpcRequestError,
  stringToHex,
} from 'viem'
import { expect, test } from 'vitest'
import {
  invalid,
  isExpired,
  nodeThat,
  now,
  pass,
  pay,
  plainNode,
  type Request,
  refusal,
  stranger,
  verdictOf,
  verify,
} from '../../support/verifyDesk.js'

const usesOverride = ({ params }: Request): boolean => params.length > 2

const rpcError = (code: number, message: string, data?: Hex) =>
  new RpcRequestError({
    body: {},
    url: 'http://node.example',
    error: { code, message, data },
  })

const mark = stringToHex('countersign executor, answer 1', { size: 32 })

test.each([
  ['nothing', null],
  ['a number', 5],
  ['text', 'hello'],
  ['an object', {}],
  ['a list', []],
  ['no bytes', '0x'],
  ['half a byte', '0x0'],
  ['the right word and no more', mark],
  ['the right word and no hex', `${mark}zz`],
  ['the right word and zeros', `${mark}${'00'.repeat(32 * 4)}`],
  ['the right word and noise', `${mark}${'ff'.repeat(4096)}`],
])('a node that answers %s is no verdict', async (_, result) => {
  const verdict = verify(await pay(), { by: nodeThat(() => result) })
  await expect(verdict).rejects.toThrow(NodeAnswerError)
})

test.each([
  ['refuses connections', new TypeError('fetch failed'), true],
  ['limits rates', rpcError(-32005, 'limit exceeded'), true],
  ['is broken inside', rpcError(-32603, 'internal error'), true],
  ['lacks the state', rpcError(-32000, 'missing trie node'), false],
  ['is out of credits', rpcError(-32000, 'no gas credits left'), false],
  ['lacks the method', rpcError(-32601, 'method not found'), false],
  ['dislikes the parameters', rpcError(-32602, 'invalid params'), false],
] as const)('a node that %s is no verdict', async (_, error, retryable) => {
  const node = nodeThat(() => {
    throw error
  })
  const fault = await verify(await pay(), { by: node }).catch((it) => it)
  expect(fault).toBeInstanceOf(NodeError)
  expect(fault.retryable).toBe(retryable)
})

test.each([
  [500, '{"error":"down"}', true],
  [429, 'slow down', true],
  [401, 'who are you', false],
  [200, '<html>', true],
])('HTTP %d with %s is no verdict', async (status, body, retryable) => {
  const server = createServer((_, response) =>
    response.writeHead(status).end(body),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const transport = http(`http://127.0.0.1:${port}`, { retryCount: 0 })
  const by = createClient({ transport })
  const fault = await verify(await pay(), { by }).catch((it) => it)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(fault.name).toMatch(/^Node(Answer)?Error$/)
  expect(fault.retryable).toBe(retryable)
})

test('a refusal of overrides is remembered, by the client it was given to', async () => {
  const node = nodeThat((request) => {
    if (usesOverride(request)) throw rpcError(-32602, 'too many arguments')
    return pass(request)
  })
  const payment = await pay()
  const first = await verify(payment, { by: node })
  const second = await verify(payment, { by: node })
  expect([first.at?.via, second.at?.via]).toEqual(['calls', 'calls'])
  expect(node.asked.filter(usesOverride)).toHaveLength(1)
  expect((await verify(payment)).at?.via).toBe('override')
})

test('overrides that are ignored are remembered as well', async () => {
  const node = plainNode()
  const payment = await pay()
  await verify(payment, { by: node })
  await verify(payment, { by: node })
  expect(node.asked.filter(usesOverride)).toHaveLength(1)
})

test('a refusal for another reason is worked around and not remembered', async () => {
  let refusals = 0
  const node = nodeThat((request) => {
    if (usesOverride(request) && refusals++ === 0)
      throw rpcError(-32000, 'out of memory')
    return pass(request)
  })
  const payment = await pay()
  const first = await verify(payment, { by: node })
  const second = await verify(payment, { by: node })
  expect([first.at?.via, second.at?.via]).toEqual(['calls', 'override'])
})

test('an internal error is worked around and not remembered', async () => {
  let failing = true
  const by = nodeThat(async (request) => {
    if (usesOverride(request) && failing) throw rpcError(-32603, 'internal')
    return pass(request)
  })
  const payment = await pay()
  expect(await verify(payment, { by })).toMatchObject({ at: { via: 'calls' } })
  failing = false
  expect(await verify(payment, { by })).toMatchObject({
    at: { via: 'override' },
  })
})

test('a block the node does not know says nothing of overrides', async () => {
  const by = nodeThat(pass)
  const payment = await pay()
  await expect(verify(payment, { by, block: 10n ** 12n })).rejects.toThrow()
  expect(await verify(payment, { by })).toMatchObject({
    at: { via: 'override' },
  })
})

test('a passing fault of the network is not remembered', async () => {
  let faults = 0
  const node = nodeThat((request) => {
    if (faults++ === 0) throw new TypeError('fetch failed')
    return pass(request)
  })
  const payment = await pay()
  await expect(verify(payment, { by: node })).rejects.toThrow(NodeError)
  expect((await verify(payment, { by: node })).at?.via).toBe('override')
})

test('an answer cut off anywhere is a fault or asked again, never a verdict', async () => {
  const payment = await pay()
  let whole = ''
  await verify(payment, {
    by: nodeThat(async (request) => {
      whole = String(await pass(request))
      return whole
    }),
  })
  for (let length = 68; length < whole.length; length += 38) {
    const by = nodeThat(() => whole.slice(0, length))
    await expect(verify(payment, { by })).rejects.toThrow(NodeAnswerError)
  }
})

test('an answer with something after it is a fault', async () => {
  const by = nodeThat(async (request) => `${await pass(request)}00`)
  await expect(verify(await pay(), { by })).rejects.toThrow(NodeAnswerError)
})

test.each([
  ['scene', 8],
  ['played call', 17],
])('a forged length of the %s is a fault', async (_, index) => {
  const at = 2 + index * 64
  const by = nodeThat(async (request) => {
    const answer = String(await pass(request))
    const forged = numberToHex(2n ** 255n, { size: 32 }).slice(2)
    return answer.slice(0, at) + forged + answer.slice(at + 64)
  })
  await expect(verify(await pay(), { by })).rejects.toThrow(NodeAnswerError)
})

test('a node that gives the words of a revert and no data', async () => {
  const node = nodeThat(async (request) => {
    if (usesOverride(request)) throw rpcError(-32602, 'too many arguments')
    try {
      return await pass(request)
    } catch (error) {
      throw rpcError(-32000, String(Object(error).details))
    }
  })
  const expired = await pay({ message: { validBefore: await now() } })
  expect(await verdictOf(expired, { by: node })).toEqual(
    refusal('expired', isExpired),
  )
  const forged = await pay({ signer: stranger })
  expect(await verdictOf(forged, { by: node })).toEqual(
    refusal('wrongSigner', invalid),
  )
})
