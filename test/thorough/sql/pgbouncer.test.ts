import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findPort } from '../../chain/support/database.js'
import {
  connectionString,
  openStore,
} from '../../chain/support/postgresStore.js'
import { startTcpProxy } from '../../chain/support/tcpProxy.js'
import {
  drawDestination,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0
if (!isInstalled)
  process.stderr.write(
    'pgbouncer is not installed (Debian: apt-get install pgbouncer): its tests are skipped.\n',
  )

/** A PgBouncer in transaction mode, in front of a server at this port. */
async function startBouncer(target: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bouncer-'))
  // It does not run as root, and its user has to get through.
  chmodSync(folder, 0o755)
  const port = await findPort()
  const users = join(folder, 'users.txt')
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(users, '"shop" "shop"\n')
  writeFileSync(
    settings,
    `[databases]
shop = host=127.0.0.1 port=${target} dbname=shop
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
`,
  )
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child = spawn('pgbouncer', ['-q', ...user, settings], {
    stdio: 'ignore',
  })
  onTestFinished(() => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await expect.poll(() => isOpen(port), { timeout: 10_000 }).toBe(true)
  return `postgres://shop:shop@127.0.0.1:${port}/shop`
}

const isOpen = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

test.runIf(isInstalled)(
  'a setting that PgBouncer does not take is reported at once, in its words',
  async () => {
    const url = await startBouncer(new URL(connectionString).port)
    const since = performance.now()
    const store = openStore({
      connectionString: `${url}?statement_timeout=5000`,
    })
    await expect(store.open()).rejects.toMatchObject({
      message:
        'The store got an error from its database (08P01): unsupported startup parameter: statement_timeout.',
      retryable: false,
    })
    expect(performance.now() - since).toBeLessThan(5_000)
  },
)

test.runIf(isInstalled)(
  'behind PgBouncer, connections that go silent on either side lose and double nothing',
  { timeout: 120_000 },
  async () => {
    const behind = await startTcpProxy(connectionString)
    const bouncer = await startBouncer(new URL(behind.url).port)
    const before = await startTcpProxy(bouncer)
    const url = new URL(bouncer)
    url.port = new URL(before.url).port
    const store = openStore({ connectionString: String(url) })
    const own = openStore()
    await own.open()
    await store.open()
    const destination = drawDestination()
    const write = () =>
      store.write(async (it) => {
        await it.orders.insert([sampleOrder(destination)])
        await it.events.append([sampleEvent(destination)])
      })
    const ends: unknown[] = []
    for (const silence of [before.freeze, behind.freeze]) {
      const calls = Array.from({ length: 15 }, () =>
        write().then(
          () => 'kept',
          (error: unknown) => error,
        ),
      )
      silence()
      ends.push(...(await Promise.all(calls)))
    }
    const failed = ends.filter((end) => end !== 'kept')
    for (const error of failed) expect(error).toMatchObject({ retryable: true })
    // PgBouncer itself gives up a silent server when its client leaves.
    await expect
      .poll(() => write().then(() => true), { timeout: 60_000 })
      .toBe(true)
    const seen = await own.read(async (it) => ({
      orders: (await it.orders.count([destination])).drafted ?? 0,
      events: (
        await it.events.find({
          destinations: [destination],
          after: 0n,
          limit: 99,
        })
      ).length,
    }))
    expect(seen.events).toBe(seen.orders)
    expect(seen.orders).toBeGreaterThanOrEqual(31 - failed.length)
    expect(seen.orders).toBeLessThanOrEqual(31)
  },
)
