import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { type Etcd, startEtcd } from './startEtcd.js'
import { type Front, startFront } from './startFront.js'
import { type Member, prepareMember } from './startMember.js'

export type Cluster = {
  folder: string
  members: readonly Member[]
  etcd: Etcd
  front: Front
  /** Addresses of the shop's database, through PgBouncer and past it. */
  urls: { pooled: string; direct: string }
  /** The member that is the primary now, if one is. */
  findLeader(): Promise<Member | undefined>
  /** @param keep leaves the folder with the logs. */
  stop(given?: { keep: boolean }): void
}

/** Three PostgreSQL under Patroni and etcd, HAProxy and PgBouncer in front. */
export async function startCluster({
  isSynchronous,
}: {
  isSynchronous: boolean
}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cluster-'))
  // The database's user has to get through.
  chmodSync(folder, 0o755)
  const password = 'a-password-of-your-own'
  const etcd = await startEtcd(folder)
  const terms = {
    folder,
    etcd: etcd.ports,
    isSynchronous,
    postgresBin: findPostgres(),
    password,
  }
  const members: Member[] = []
  for (const name of ['one', 'two', 'three'])
    members.push(await prepareMember(name, terms))
  const [first, ...others] = members
  first?.start()
  const front = await startFront(members, { folder, password })
  const stop: Cluster['stop'] = ({ keep } = { keep: false }) => {
    for (const member of members) member.stop()
    etcd.stop()
    front.stop()
    if (!keep) rmSync(folder, { recursive: true, force: true })
  }
  const urlOf = (port: number, user = 'shop', database = user) =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
  try {
    await makeDatabase(urlOf(front.direct, 'postgres'), {
      inside: urlOf(front.direct, 'postgres', 'shop'),
      password,
    })
    // The others copy the first, so they start once it is the primary.
    for (const member of others) member.start()
    await untilStreaming(urlOf(front.direct, 'postgres'), members.length - 1)
  } catch (error) {
    stop({ keep: true })
    throw new Error(`The cluster did not start. Its logs: ${folder}`, {
      cause: error,
    })
  }
  return {
    folder,
    members,
    etcd,
    front,
    urls: { pooled: urlOf(front.pooled), direct: urlOf(front.direct) },
    findLeader: async () => {
      const answers = await Promise.all(members.map(isLeader))
      return members.find((_, at) => answers[at])
    },
    stop,
  }
}

async function isLeader({ ports }: Member): Promise<boolean> {
  const signal = AbortSignal.timeout(1_000)
  const url = `http://127.0.0.1:${ports.rest}/primary`
  return fetch(url, { signal }).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** Makes the shop's user and database, once there is a primary. */
async function makeDatabase(
  url: string,
  { inside, password }: { inside: string; password: string },
): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      await ask(url, `create role shop login password '${password}'`)
      break
    } catch (error) {
      if (tries === 60) throw error
      await setTimeout(1_000)
    }
  await ask(url, 'create database shop owner shop')
  await ask(inside, 'grant execute on function pg_control_system() to shop')
}

/** Waits until all standbys follow the primary. */
async function untilStreaming(url: string, standbys: number): Promise<void> {
  const text = `select 1 from pg_stat_replication where state = 'streaming'`
  for (let tries = 0; tries < 120; tries++) {
    if ((await ask(url, text)) === standbys) return
    await setTimeout(500)
  }
  throw new Error('not all standbys follow the primary')
}

/** Returns the number of rows. */
async function ask(
  connectionString: string,
  text: string,
): Promise<number | null> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: 3_000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query(text)
    return rowCount
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Debian keeps each version of PostgreSQL in a folder of its own. */
function findPostgres(): string {
  const versions = '/usr/lib/postgresql'
  const [newest] = existsSync(versions)
    ? readdirSync(versions).sort((one, other) => Number(other) - Number(one))
    : []
  if (!newest)
    throw new Error(
      'PostgreSQL is not installed. Debian: apt-get install postgresql patroni etcd-server pgbouncer haproxy',
    )
  return join(versions, newest, 'bin')
}
