import { createClient, custom, fallback } from 'viem'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { askAgain } from './askAgain.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Sent = { method: string }
type Answer = (sent: Sent) => Promise<unknown>

const never = () => new Promise<never>(() => undefined)
const answer = async () => '0x1'

/** A client of nodes, and the methods that each was asked. */
function openNodes(...answers: Answer[]) {
  const asked = answers.map((): string[] => [])
  const nodes = answers.map((one, at) =>
    custom(
      {
        request: (sent: Sent) => {
          asked[at]?.push(sent.method)
          return one(sent)
        },
      },
      { retryCount: 0 },
    ),
  )
  const [only] = nodes
  if (!only) throw new Error('no node')
  const transport = nodes.length > 1 ? fallback(nodes, { retryCount: 0 }) : only
  const client = askAgain(createClient({ transport }))
  const ask = (method: string) =>
    client.request({ method } as never) as Promise<unknown>
  return { ask, asked, client }
}

test('a read that is not answered is asked again, and the first answer counts', async () => {
  let count = 0
  const { ask, asked } = openNodes(() => (count++ === 0 ? never() : answer()))
  const asking = ask('eth_blockNumber')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await asking).toBe('0x1')
  expect(asked).toEqual([['eth_blockNumber', 'eth_blockNumber']])
})

test('a read that is answered in time is asked once', async () => {
  const { ask, asked } = openNodes(answer)
  expect(await ask('eth_blockNumber')).toBe('0x1')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toEqual([['eth_blockNumber']])
})

test.each([
  'eth_sendTransaction',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'eth_signTypedData_v4',
  'personal_sign',
  'eth_requestAccounts',
  'wallet_sendCalls',
])('%s is never repeated', async (method) => {
  const { ask, asked } = openNodes(never)
  void ask(method)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toEqual([[method]])
})

test('a read that nobody answers ends, where its transport sets no limit', async () => {
  const { ask } = openNodes(never)
  const asking = expect(ask('eth_call')).rejects.toThrow(
    'no answer in 30000 ms',
  )
  await vi.advanceTimersByTimeAsync(30_000)
  await asking
})

test('what a second node says of a send waits for the first, which may have sent it', async () => {
  const sent = new Promise((resolve) => {
    setTimeout(() => resolve('0xhash'), 5_000)
  })
  const refusal = Object.assign(new Error('nonce too low'), { code: -32000 })
  const { ask, asked } = openNodes(
    () => sent,
    () => Promise.reject(refusal),
  )
  const asking = ask('eth_sendRawTransaction')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await asking).toBe('0xhash')
  expect(asked).toEqual([
    ['eth_sendRawTransaction'],
    ['eth_sendRawTransaction'],
  ])
})

test('what the node refuses at the second try counts at once', async () => {
  let count = 0
  const refusal = Object.assign(new Error('execution reverted'), { code: 3 })
  const { ask } = openNodes(() =>
    count++ === 0 ? never() : Promise.reject(refusal),
  )
  const asking = expect(ask('eth_call')).rejects.toThrow('reverted')
  await vi.advanceTimersByTimeAsync(2_000)
  await asking
})

test('a silent transport of a fallback costs its silence once, also a send', async () => {
  const { ask, asked } = openNodes(never, answer)
  const asking = ask('eth_sendRawTransaction')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await asking).toBe('0x1')
  for (const method of ['eth_call', 'eth_blockNumber', 'eth_gasPrice'])
    expect(await ask(method)).toBe('0x1')
  expect(asked.map(({ length }) => length)).toEqual([1, 4])
  // Later it is tried again.
  await vi.advanceTimersByTimeAsync(30_000)
  const later = ask('eth_call')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await later).toBe('0x1')
  expect(asked.map(({ length }) => length)).toEqual([2, 5])
})

test('where the other transports fail too, the first is asked again', async () => {
  let isMended = false
  const { ask } = openNodes(
    () => (isMended ? answer() : never()),
    () => (isMended ? Promise.reject(new Error('fetch failed')) : answer()),
  )
  const asking = ask('eth_call')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await asking).toBe('0x1')
  isMended = true
  expect(await ask('eth_call')).toBe('0x1')
})

test('the same client gives the same copy, which is its own', () => {
  const { client } = openNodes(answer)
  expect(askAgain(client)).toBe(client)
  const plain = createClient({ transport: custom({ request: answer }) })
  expect(askAgain(plain)).toBe(askAgain(plain))
})

test('a second transport that goes silent too does not end in silence: the first is asked again', async () => {
  let isFirstWell = false
  let isSecondWell = true
  const { ask } = openNodes(
    () => (isFirstWell ? answer() : never()),
    () => (isSecondWell ? answer() : never()),
  )
  const first = ask('eth_blockNumber')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await first).toBe('0x1')
  isFirstWell = true
  isSecondWell = false
  const second = ask('eth_blockNumber')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await second).toBe('0x1')
})
