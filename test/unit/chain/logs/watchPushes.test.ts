import { watchLogs } from 'countersign/reads'
import { createClient, custom } from 'viem'
import { expect, onTestFinished, test, vi } from 'vitest'
import { address, type FakeLog } from '../../support/forkingChain.js'
import { openPushServer } from '../../support/pushServer.js'

const word = (digit: number) => `0x${String(digit).repeat(64)}`

const logAt = (block: number, more: Partial<FakeLog> = {}): FakeLog => ({
  address,
  topics: [word(3)],
  data: '0x',
  blockNumber: `0x${block}`,
  blockHash: word(block),
  transactionHash: word(block),
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
  ...more,
})

/** A watch that looks only when it is pushed to. */
async function watchPushed() {
  const server = await openPushServer()
  const node = { head: 1 }
  const request = async ({
    method,
    params,
  }: {
    method: string
    params: unknown[]
  }) => {
    if (method === 'eth_getBlockByNumber') {
      return {
        number: `0x${node.head}`,
        hash: word(node.head),
        timestamp: '0x1',
      }
    }
    const { fromBlock } = Object(params[0])
    return [1, 2, 3]
      .filter((block) => block >= Number(fromBlock) && block <= node.head)
      .map((block) => logAt(block))
  }
  const events: string[] = []
  const unwatch = watchLogs(createClient({ transport: custom({ request }) }), {
    address,
    topics: [word(3) as `0x${string}`],
    fromBlock: 2n,
    webSocket: server.url,
    pollingInterval: 600_000,
    // Whether there was a gap depends on when the connection stood.
    onEvent: (event) => {
      if (event.type !== 'gap')
        events.push(`${event.type} ${event.log.blockNumber}`)
    },
  })
  onTestFinished(() => {
    unwatch()
    server.cut()
    server.close()
  })
  /** Pushes until something comes of it: subscriptions take their time. */
  const pushUntil = (push: () => void, told: readonly string[]) =>
    vi.waitFor(
      () => {
        push()
        expect(events).toEqual(told)
      },
      { timeout: 60_000, interval: 20 },
    )
  return { server, node, events, pushUntil }
}

test('a pushed log that the filter did not ask for is not told', async () => {
  const { server, pushUntil } = await watchPushed()
  const push = () => {
    server.pushPending(logAt(4, { address: `0x${'1'.repeat(40)}` }))
    server.pushPending(logAt(5, { topics: [word(4)] }))
    server.pushPending(logAt(6))
  }
  await pushUntil(push, ['preconfirmed 6'])
})

test('after a message that cannot be read the connection is made anew', async () => {
  const { server, node, pushUntil } = await watchPushed()
  node.head = 2
  await pushUntil(server.pushHead, ['included 2'])
  await vi.waitFor(() => expect(server.opened()).toBe(1), { timeout: 60_000 })
  server.garble()
  await vi.waitFor(() => expect(server.opened()).toBe(2), { timeout: 60_000 })
  node.head = 3
  await pushUntil(server.pushHead, ['included 2', 'included 3'])
})

test('a connection whose other side is gone without a word is made anew within 25 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const { server, node, pushUntil } = await watchPushed()
  node.head = 2
  await pushUntil(server.pushHead, ['included 2'])
  // One that answers stays, however little it has to push.
  for (let second = 0; second < 60; second++) {
    vi.advanceTimersByTime(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(server.opened()).toBe(1)
  server.fallSilent()
  vi.advanceTimersByTime(15_000)
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(10_000)
  await vi.waitFor(() => expect(server.opened()).toBe(2), {
    timeout: 1_000,
    interval: 20,
  })
  node.head = 3
  await pushUntil(server.pushHead, ['included 2', 'included 3'])
})
