import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditReport } from 'countersign/orders'
import { postgresStore, sqliteStore } from 'countersign/sql'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { sendLast } from './childMessages.js'
import { openShop } from './ordersShop.js'
import { sized } from './sized.js'

/** Where the audited database and its node are. */
export type AuditPlace = {
  dev: Parameters<typeof openShop>[0]
  url: string
  /** A file of SQLite, or a connection string of PostgreSQL. */
  database: string
  privateKey: Hex
}

/** What an audit costs those who share its process. */
export type AuditCost = {
  ok: boolean
  transfers: number
  seconds: number
  /** Milliseconds of the longest delay of the event loop. */
  longest: number
  /** The same while the process was idle: what the machine's load adds. */
  idle: number
  /**
   * Most milliseconds of computing in a row. What other processes take of the
   * machine does not count.
   */
  computed: number
  /** Megabytes before, and at most during the audit. */
  before: number
  peak: number
}

/** An audit in a process of its own, which watches its event loop. */
const [told] = await once(process, 'message')
const { dev, url, database, privateKey }: AuditPlace = told
const isPostgres = database.startsWith('postgres')
const orders = openShop(dev, {
  url,
  store: isPostgres
    ? postgresStore({ connectionString: database })
    : sqliteStore({ file: database }),
  key: undefined,
  accounts: [privateKeyToAccount(privateKey)],
})
// Loads the code, so that only the audit's own work is measured.
const { destinations } = await orders.audit({ fromBlock: 1n, toBlock: 20n })
const { longest: idle } = await watchLoop(() => sleep(sized(5_000, 200)))
const megabytes = () => process.memoryUsage.rss() / 2 ** 20
const before = megabytes()
let peak = before
const sampling = setInterval(() => {
  peak = Math.max(peak, megabytes())
}, 20)
const start = performance.now()
let report: AuditReport | undefined
const { longest, computed } = await watchLoop(async () => {
  report = await orders.audit()
})
const seconds = (performance.now() - start) / 1000
clearInterval(sampling)
const cost: AuditCost = {
  ok: report?.ok === true && destinations.length === 1,
  transfers: report?.destinations[0]?.chain.count ?? 0,
  seconds,
  longest,
  idle,
  computed,
  before,
  peak: Math.max(peak, megabytes()),
}
await orders.close()
await sendLast(cost)

/** How long the event loop stood still, and how long it computed, at most. */
async function watchLoop(
  work: () => Promise<unknown>,
): Promise<{ longest: number; computed: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let computed = 0
  let last = process.cpuUsage()
  let since = performance.now()
  const sampling = setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    const passed = performance.now() - since
    // Other threads compute too, so that it may be more than the time.
    computed = Math.max(computed, Math.min(passed, (user + system) / 1000))
    last = process.cpuUsage()
    since = performance.now()
  }, 1)
  delay.enable()
  await work()
  delay.disable()
  clearInterval(sampling)
  return { longest: delay.max / 1e6, computed }
}
