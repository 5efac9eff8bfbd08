import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { startDatabase } from '../../chain/support/database.js'
import { storeAt } from '../../chain/support/webhooksPlace.js'
import {
  type Receiver,
  startReceiver,
} from '../../unit/support/webhooksReceiver.js'
import { createSecret, progressOf } from '../../unit/support/webhooksRun.js'
import { createStream } from '../../unit/support/webhooksStream.js'

const seed = Number(process.env.COUNTERSIGN_SEED ?? 5)
const kills = process.env.COUNTERSIGN_FULL ? 40 : 4
const orderCount = 5 * kills

/** A process that delivers; killed, it is replaced. */
function keepWorker(place: string, { url, ca }: Receiver, secret: string) {
  let child: ChildProcess | undefined
  let isOver = false
  const start = () => {
    const args = [
      '--import',
      'tsx',
      'test/chain/support/webhooksWorker.ts',
      place,
    ]
    child = spawn(process.execPath, [...args, url, secret, ca], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    child.once('exit', () => {
      if (!isOver) start()
    })
  }
  onTestFinished(async () => {
    isOver = true
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return { start, kill: () => child?.kill('SIGKILL') }
}

const databases = {
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'orders.db')
  },
  PostgreSQL: async () => {
    const database = await startDatabase()
    onTestFinished(database.stop)
    return database.create('shop')
  },
}

test.each([
  ['one process', 'SQLite', 1],
  ['two processes', 'PostgreSQL', 2],
] as const)(
  `%s on %s, killed around a delivery, lose no event and no order [seed ${seed}]`,
  async (_, kind, workerCount) => {
    const place = await databases[kind]()
    const store = storeAt(place)
    onTestFinished(() => store.close())
    await store.open()
    const stream = createStream(store)
    for (const type of ['drafted', 'accepted', 'captured'] as const)
      for (let order = 0; order < orderCount; order++)
        await stream.tell(`order-${order}`, type)
    const random = seededRandom(seed)
    let killed = 0
    let nextKill = 2
    const receiver = await startReceiver((response, { path }, index) => {
      const isDue = killed < kills && index >= nextKill
      if (isDue) {
        killed++
        nextKill = index + 1 + Math.floor(random() * 12)
      }
      const isBefore = random() < 0.5
      // The one that sent this is the one that ends.
      const sender = workers[Number(path.at(-1))]
      if (isDue && isBefore) sender?.kill()
      response.writeHead(204).end()
      if (isDue && !isBefore) sender?.kill()
    })
    const secret = createSecret()
    const workers = Array.from({ length: workerCount }, (_, index) => {
      const url = receiver.url.replace(/key=.*/, `by=${index}`)
      return keepWorker(place, { ...receiver, url }, secret)
    })
    for (const worker of workers) worker.start()
    const last = String(3 * orderCount)
    await expect
      .poll(() => progressOf(stream), { timeout: 600_000, interval: 100 })
      .toEqual({ cursor: last, read: last, open: [] })
    expect(killed).toBe(kills)
    checkReceived(receiver)
  },
  620_000,
)

/** Everything came, in order the first time, and the same whenever it came. */
function checkReceived({ received }: Receiver): void {
  const bodies = new Map<unknown, string>()
  const highest = new Map<unknown, number>()
  for (const { headers, text, payload } of received) {
    const { orderId, sequence } = payload.data
    const before = highest.get(orderId) ?? 0
    expect(sequence).toBeLessThanOrEqual(before + 1)
    highest.set(orderId, Math.max(before, sequence))
    const id = headers['webhook-id']
    expect(bodies.get(id) ?? text).toBe(text)
    bodies.set(id, text)
  }
  expect(bodies.size).toBe(3 * orderCount)
}
