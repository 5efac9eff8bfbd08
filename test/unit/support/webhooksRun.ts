import { randomBytes } from 'node:crypto'
import type { Observation } from 'countersign/orders'
import type { Lease, PaymentStore } from 'countersign/store'
import type { WebhookTarget } from 'countersign/webhooks'
import { expect, onTestFinished } from 'vitest'
import {
  runWebhooksWith,
  webhookTools,
} from '../../../src/webhooks/runWebhooks.js'
import type { WebhookTools } from '../../../src/webhooks/targets/types.js'
import type { Receiver } from './webhooksReceiver.js'
import type { Stream } from './webhooksStream.js'

export const createSecret = (): string =>
  `whsec_${randomBytes(32).toString('base64')}`

/** Patience that suits a test. */
export const quickTools: WebhookTools = {
  ...webhookTools,
  pause: () => 5,
  look: 20,
  standby: 20,
}

export type Run = {
  seen: Observation[]
  secret: string
  stop(): Promise<void>
}

/** Delivers what is told to a receiver until the test is over. */
export function startRun(
  { orders, store }: Pick<Stream, 'orders' | 'store'>,
  { url, ca }: Pick<Receiver, 'url' | 'ca'>,
  changes: Partial<WebhookTarget> & {
    tools?: Partial<WebhookTools>
    observe?: (observation: Observation) => void
  } = {},
): Run {
  const { tools, observe, ...fields } = changes
  const secret = createSecret()
  const target = {
    name: 'test',
    url,
    ca,
    secrets: [secret],
    privateHosts: ['localhost'],
    ...fields,
  }
  const stopping = new AbortController()
  const seen: Observation[] = []
  const running = runWebhooksWith(
    orders,
    {
      store,
      targets: [target],
      signal: stopping.signal,
      observe: observe ?? ((observation) => void seen.push(observation)),
    },
    { ...quickTools, ...tools },
  )
  // Whoever stops it is told.
  running.catch(() => undefined)
  const stop = async () => {
    stopping.abort()
    await running
  }
  onTestFinished(() => stop().catch(() => undefined))
  return { seen, secret, stop }
}

/** What a receiver was told of each order, as `type sequence`. */
export function toldOf({ received }: Pick<Receiver, 'received'>): string[] {
  return received.map(
    ({ payload: { type, data } }) => `${data.orderId} ${type} ${data.sequence}`,
  )
}

/** What is on record about how far the target is. */
export function progressOf(
  { store }: Pick<Stream, 'store'>,
  name = 'test',
): Promise<Readonly<Record<string, unknown>> | undefined> {
  return store.read((tables) => tables.getValue(`webhook:${name}`))
}

/** Patience that suits a busy machine. */
export const eventually = <value>(
  read: () => value | Promise<value>,
): ReturnType<typeof expect.poll<value>> =>
  expect.poll(read, { timeout: 30_000, interval: 10 })

/** A store whose leases can run out at once, as if the holder were asleep. */
export function watchLeases(store: PaymentStore): {
  store: PaymentStore
  expire(): Promise<void>
} {
  let last: Lease | undefined
  return {
    store: {
      ...store,
      takeLease: async (wanted) => {
        const lease = await store.takeLease(wanted)
        last = lease ?? last
        return lease
      },
    },
    expire: async () => {
      if (last) await store.releaseLease(last)
    },
  }
}
