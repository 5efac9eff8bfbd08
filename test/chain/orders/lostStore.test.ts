import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import { sqliteStore } from 'countersign/sql'
import {
  createSubscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import { runWebhooks } from 'countersign/webhooks'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openShop } from '../support/shop.js'

const chain = await startDevChain({ spendPermissions: true })
afterAll(() => chain.stop())

const gone = {
  name: 'StoreError',
  message:
    'The store lost its file, which was moved, removed or replaced: restart the process.',
  retryable: false,
}

function makeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-lost-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'orders.db')
}

/** All that runs for long in one process. */
async function startProcess(file: string) {
  const store = sqliteStore({ file })
  const shop = await openShop(chain, {
    store,
    kinds: [spendPermissions()],
    policy: { lease: 1_500, pollingInterval: 100 },
  })
  const { orders } = shop
  const subscriptions = createSubscriptions({ orders })
  const stop = new AbortController()
  const { signal } = stop
  const target = {
    name: 'books',
    url: 'https://books.example/',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  }
  const ends = [
    orders.run({ signal }),
    subscriptions.run({ signal }),
    runWebhooks(orders, { store, targets: [target], signal }),
  ].map((run) =>
    run.then(
      () => undefined,
      (error: unknown) => error,
    ),
  )
  onTestFinished(async () => {
    stop.abort()
    await Promise.all(ends)
    await orders.close()
  })
  await expect
    .poll(
      async () => (await orders.health()).submitters[0]?.lease?.thisInstance,
    )
    .toBe(true)
  return { orders, ends, stop }
}

test('whatever runs for long ends by itself, with the error, once only a restart of the process helps', async () => {
  const file = makeFile()
  const { orders, ends } = await startProcess(file)
  rmSync(file)
  for (const end of await Promise.all(ends)) expect(end).toMatchObject(gone)
  const again = orders.run({ signal: new AbortController().signal })
  await expect(again).rejects.toMatchObject(gone)
})

test('a process that was asked to end resolves, whatever becomes of its file then', async () => {
  const file = makeFile()
  const { ends, stop } = await startProcess(file)
  stop.abort()
  rmSync(file)
  expect(await Promise.all(ends)).toEqual([undefined, undefined, undefined])
})
