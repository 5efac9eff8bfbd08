import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { createBoundaries } from './boundaries.js'
import {
  type ChannelPlan,
  type ChannelProcess,
  type ChannelTold,
  openChannelProcess,
} from './channelPlan.js'
import { passNode } from './passNode.js'
import { passStore } from './passStore.js'
import { passWallet } from './passWallet.js'

/** A process of a shop with channels that can be told where to die. */
async function main(plan: ChannelPlan): Promise<void> {
  const boundaries = createBoundaries(plan.kill)
  passNode(plan.url, boundaries)
  const opened = openChannelProcess(plan, {
    store: (store) => passStore(store, boundaries),
    wallet: (account) => passWallet(account, boundaries),
    work: (run) => boundaries.pass('handler', run),
  })
  const answer = await act(opened, plan)
  const told: ChannelTold = {
    points: [...boundaries.passed],
    ...(answer && {
      answer: {
        status: answer.status,
        body: await answer.text(),
        headers: [...answer.headers],
      },
    }),
  }
  await opened.shop.orders.close()
  process.stdout.write(`${JSON.stringify(told)}\n`)
}

async function act(
  { answer, channels, shop }: ChannelProcess,
  { flow, asked, channelId = '0x' }: ChannelPlan,
): Promise<Response | undefined> {
  switch (flow) {
    case 'answer': {
      const { url = '', header = '' } = asked ?? {}
      const headers = { 'PAYMENT-SIGNATURE': header }
      return answer(new Request(url, { headers }))
    }
    case 'claim':
      await channels.claim()
      return undefined
    case 'refund':
      await channels.refund({ channelId })
      return undefined
    case 'serve': {
      serve({ fetch: answer, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
        process.stdout.write(`port ${port}\n`)
      })
      const { signal } = new AbortController()
      await Promise.all([shop.orders.run({ signal }), channels.run({ signal })])
      return undefined
    }
    case 'work': {
      const stop = new AbortController()
      const { signal } = stop
      // One thing after the other, so that it passes much the same points.
      const running = [
        shop.orders.run({ signal, concurrency: 1 }),
        channels.run({ signal }),
      ]
      while ((await channels.get({ channelId })).unclaimed > 0n) await sleep(20)
      stop.abort()
      await Promise.all(running)
      return undefined
    }
  }
}

// Nobody is left to follow it.
process.stdin.once('end', () => process.exit(1)).resume()
await main(JSON.parse(process.argv[2] ?? ''))
process.stdin.destroy()
