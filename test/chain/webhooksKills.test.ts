import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../src/testing/seededRandom.js'
import { type Receiver, startReceiver } from '../unit/webhooksReceiver.js'
import { createSecret, progressOf } from '../unit/webhooksRun.js'
import { createStream } from '../unit/webhooksStream.js'

const seed = Number(process.env.COUNTERSIGN_SEED ?? 5)
const kills = process.env.COUNTERSIGN_FULL ? 40 : 4
const orderCount = 5 * kills

/** Processes that deliver; one that was killed is replaced. */
function keepWorker(file: string, { url, ca }: Receiver) {
  const secret = createSecret()
  let child: ChildProcess | undefined
  let isOver = false
  const start = () => {
    const args = ['--import', 'tsx', 'test/chain/webhooksWorker.ts', file]
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

test(`processes killed around a delivery lose no event and no order [seed ${seed}]`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'orders.db')
  const store = sqliteStore({ file })
  onTestFinished(() => store.close())
  await store.open()
  const stream = createStream(store)
  for (const type of ['drafted', 'accepted', 'captured'] as const)
    for (let order = 0; order < orderCount; order++)
      await stream.tell(`order-${order}`, type)
  const random = seededRandom(seed)
  let killed = 0
  let nextKill = 2
  const receiver: Receiver = await startReceiver((response, _, index) => {
    const isDue = killed < kills && index >= nextKill
    if (isDue) {
      killed++
      nextKill = index + 1 + Math.floor(random() * 12)
    }
    const isBefore = random() < 0.5
    if (isDue && isBefore) worker.kill()
    response.writeHead(204).end()
    if (isDue && !isBefore) worker.kill()
  })
  const worker = keepWorker(file, receiver)
  worker.start()
  const last = String(3 * orderCount)
  await expect
    .poll(() => progressOf(stream), { timeout: 600_000, interval: 100 })
    .toEqual({ cursor: last, read: last, open: [] })
  expect(killed).toBe(kills)
  checkReceived(receiver)
}, 620_000)

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
