import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askServer, findPort, prepareServer } from './database.js'

/** A PostgreSQL, a standby that follows it, and one address for both. */
export type DatabasePair = {
  /** Leads to the primary, and after a failover to what was the standby. */
  url: string
  /** The standby has all there is by now, and gets nothing more. */
  detach(): Promise<void>
  /** Ends the primary without a word, and promotes the standby. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

const urlOf = (port: number, user = 'postgres', database = user) =>
  `postgres://${user}:${user}@127.0.0.1:${port}/${database}`

/**
 * @param synchronous whether the primary confirms only what the standby has.
 */
export async function startPair({
  synchronous,
}: {
  synchronous: boolean
}): Promise<DatabasePair> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pair-'))
  // The servers may run as another user, who has to get through.
  chmodSync(folder, 0o755)
  const folders = [join(folder, 'primary'), join(folder, 'standby')] as const
  const ports = [await findPort(), await findPort()] as const
  await makePrimary(folders[0], ports[0])
  makeStandby(folders, ports[0])
  const primary = prepareServer({
    databaseDir: folders[0],
    port: ports[0],
    flags: synchronous ? ['-c', 'synchronous_standby_names=standby'] : [],
  })
  const standby = prepareServer({
    databaseDir: folders[1],
    port: ports[1],
    flags: [],
  })
  await primary.start()
  // Is over only once it is promoted, or ended.
  standby.start().catch(() => undefined)
  const askStandby = (text: string) => askServer(urlOf(ports[1]), text)
  const standbySays = (condition: string) =>
    untilTrue(async () => {
      const [row] = await askStandby(`select ${condition} as answer`)
      return row?.answer
    })
  await standbySays(`exists (select from pg_stat_wal_receiver
    where status = 'streaming')`)

  const address = await startAddress(ports[0])
  return {
    url: urlOf(address.port, 'shop'),
    detach: async () => {
      const [row] = await askServer(
        urlOf(ports[0]),
        'select pg_current_wal_flush_lsn() as place',
      )
      await standbySays(`pg_last_wal_receive_lsn() >= '${row?.place}'`)
      await askStandby(`alter system set primary_conninfo to ''`)
      await askStandby('select pg_reload_conf()')
      await standbySays('not exists (select from pg_stat_wal_receiver)')
    },
    failOver: async () => {
      const pid = readFileSync(join(folders[0], 'postmaster.pid'), 'utf8')
      process.kill(Number.parseInt(pid, 10), 'SIGQUIT')
      address.lead(undefined)
      await primary.stop()
      await askStandby('select pg_promote()')
      address.lead(ports[1])
    },
    stop: async () => {
      await Promise.all([primary.stop(), standby.stop()])
      await address.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function makePrimary(databaseDir: string, port: number): Promise<void> {
  const server = prepareServer({ databaseDir, port, flags: [] })
  await server.initialise()
  await server.start()
  await askServer(urlOf(port), `create role shop login password 'shop'`)
  await askServer(urlOf(port), 'create database shop owner shop')
  await server.stop()
}

/** From the files of a server that is stopped. */
function makeStandby(
  [from, to]: readonly [string, string],
  port: number,
): void {
  execFileSync('cp', ['-a', from, to])
  writeFileSync(join(to, 'standby.signal'), '')
  const followed = `host=127.0.0.1 port=${port} user=postgres password=postgres application_name=standby`
  appendFileSync(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = '${followed}'\n`,
  )
}

/** An address that can be led elsewhere, which ends what it carries. */
async function startAddress(first: number) {
  let target: number | undefined = first
  const sockets = new Set<Socket>()
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  const keep = (socket: Socket, other: () => Socket | undefined) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      other()?.destroy()
    })
  }
  const server = createServer((socket) => {
    if (target === undefined) {
      socket.destroy()
      return
    }
    const onward = connect(target, '127.0.0.1')
    keep(socket, () => onward)
    keep(onward, () => socket)
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    port,
    lead: (next: number | undefined) => {
      target = next
      end()
    },
    stop: async () => {
      end()
      await new Promise((done) => server.close(done))
    },
  }
}

async function untilTrue(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if ((await ask().catch(() => false)) === true) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('The standby did not get there.')
}
