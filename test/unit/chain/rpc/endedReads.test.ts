import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReadClient } from 'countersign/reads'
import { http } from 'viem'
import { expect, onTestFinished, test, vi } from 'vitest'

const address = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** A node whose answers a test gives by hand, if at all. */
async function openNode() {
  const open = new Set<ServerResponse>()
  const server = createServer((request, response) => {
    request.resume()
    open.add(response)
    response.on('close', () => open.delete(response))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, open }
}

const until = (check: () => void) =>
  vi.waitFor(check, { timeout: 60_000, interval: 5 })

test('a read that is aborted leaves its request', async () => {
  const { url, open } = await openNode()
  const client = createReadClient({ url, timeout: 600_000 })
  const stop = new AbortController()
  const range = { fromBlock: 'safe', toBlock: 'latest' } as const
  const reading = client.getLogs({ address, ...range, signal: stop.signal })
  await until(() => expect(open.size).toBe(1))
  stop.abort('enough')
  await expect(reading).rejects.toBe('enough')
  await until(() => expect(open.size).toBe(0))
})

test('a watch that is ended leaves its request', async () => {
  const { url, open } = await openNode()
  const client = createReadClient({ url, timeout: 600_000 })
  const errors: unknown[] = []
  const unwatch = client.watchLogs({
    address,
    onEvent: () => {},
    onError: (error) => errors.push(error),
  })
  await until(() => expect(open.size).toBe(1))
  unwatch()
  await until(() => expect(open.size).toBe(0))
  expect(errors).toEqual([])
})

test('many requests under one signal are no leak to Node', async () => {
  const warn = vi.spyOn(process, 'emitWarning')
  onTestFinished(() => warn.mockRestore())
  const { url, open } = await openNode()
  const client = createReadClient({ url, batch: false })
  const stop = new AbortController()
  const reading = client.getLogs({
    address,
    fromBlock: 1n,
    toBlock: 30n,
    maxBlockRange: 1n,
    concurrency: 30,
    signal: stop.signal,
  })
  await until(() => expect(open.size).toBe(30))
  stop.abort('enough')
  await expect(reading).rejects.toBe('enough')
  await until(() => expect(open.size).toBe(0))
  expect(warn).not.toHaveBeenCalled()
})

test('a request that others wait for goes on', async () => {
  const { url, open } = await openNode()
  const client = createReadClient({ url })
  const stop = new AbortController()
  const reading = client.getLogs({ address, signal: stop.signal })
  const balance = client.getBalance({ address, block: 'latest' })
  await until(() => expect(open.size).toBe(1))
  stop.abort('enough')
  await expect(reading).rejects.toBe('enough')
  const answers = [1, 2].map((id) => ({ id, result: '0x7' }))
  for (const response of open) response.end(JSON.stringify(answers))
  expect(await balance).toBe(7n)
})

test.each([
  ['url', (url: string) => ({ url })],
  ['transport', (url: string) => ({ transport: http(url) })],
])(
  'a read that is aborted waits for no other attempt over %s',
  async (_, parametersOf) => {
    const { url, open } = await openNode()
    const [set, clear] = [
      vi.spyOn(globalThis, 'setTimeout'),
      vi.spyOn(globalThis, 'clearTimeout'),
    ]
    onTestFinished(() => {
      set.mockRestore()
      clear.mockRestore()
    })
    /** The timers of the longest pause between two attempts. */
    const pauses = () =>
      set.mock.results
        .filter((_, i) => set.mock.calls[i]?.[1] === 30_000)
        .map(({ value }) => value)
    const client = createReadClient(parametersOf(url))
    const stop = new AbortController()
    const { signal } = stop
    const range = { fromBlock: 1n, toBlock: 2n }
    const reading = client.getLogs({ address, ...range, signal })
    await until(() => expect(open.size).toBe(1))
    for (const response of open)
      response.writeHead(429, { 'retry-after': '30' }).end()
    await until(() => expect(pauses()).toHaveLength(1))
    stop.abort('enough')
    await expect(reading).rejects.toBe('enough')
    expect(clear).toHaveBeenCalledWith(pauses()[0])
  },
)
