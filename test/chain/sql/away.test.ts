import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { drawDestination, sampleOrder } from '../../storeCases/samples.js'
import {
  connectionString,
  database,
  openPool,
  openStore,
  wait,
} from '../support/postgresStore.js'

/** What a server says when it ends a session. */
function fatal(code: string, words: string): Buffer {
  const body = Buffer.from(`SFATAL\0C${code}\0M${words}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** A pooler that refuses the first connections, and forwards the others. */
async function startPooler(refusals: readonly Buffer[]): Promise<string> {
  const url = new URL(connectionString)
  const target = Number(url.port)
  const left = [...refusals]
  const sockets: Socket[] = []
  const server = createServer((near) => {
    near.on('error', () => near.destroy())
    const refusal = left.shift()
    if (refusal) {
      near.once('data', () => near.end(refusal))
      return
    }
    const far = connect(target, url.hostname)
    far.on('error', () => near.destroy())
    sockets.push(near, far)
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  url.port = String((server.address() as AddressInfo).port)
  return String(url)
}

test.each([
  ['XX000', 'Max client connections reached'],
  ['53300', 'too many connections'],
  ['08P01', 'no more connections allowed (max_client_conn)'],
  ['57P03', 'the database system is starting up'],
])(
  'a pooler that refuses a connection with %s is asked again',
  async (code, words) => {
    const refusal = fatal(code, words)
    const url = await startPooler([refusal, refusal, refusal])
    const store = openStore({ connectionString: url })
    await store.write((it) => it.setValue('pooled', { code }))
    expect(await openStore().read((it) => it.getValue('pooled'))).toEqual({
      code,
    })
  },
)

test.each([
  [
    '08P01',
    'unsupported startup parameter: statement_timeout',
    ': unsupported startup parameter: statement_timeout.',
  ],
  ['08P01', 'no such database: pass@word', ': no such database….'],
  ['42501', 'permission denied for database "hunter2"', ': permission denied'],
])(
  'what does not pass is reported at once, in the words of the server: %s %s',
  async (code, words, shown) => {
    const url = await startPooler([fatal(code, words)])
    const error = await openStore({ connectionString: url })
      .open()
      .catch((error: unknown) => error)
    expect(error).toMatchObject({
      name: 'StoreError',
      message: expect.stringContaining(
        `The store got an error from its database (${code})${shown}`,
      ),
      retryable: false,
    })
    expect(String(error)).not.toMatch(/hunter2|pass@word/)
  },
)

test('a server without TLS is reported at once to a store that asks for it', async () => {
  const url = `${connectionString}?sslmode=require`
  await expect(openStore({ connectionString: url }).open()).rejects.toThrow(
    'The store got an error from its database (connection ended): The server does not support SSL connections.',
  )
})

test('work whose session a pooler ends with an error of its own runs again', async () => {
  const pool = openPool()
  let isEnded = false
  const connect = async () => {
    const client = await pool.connect()
    const query = async (request: { text: string }) => {
      if (isEnded || !/insert into/.test(request.text))
        return client.query(request)
      isEnded = true
      throw Object.assign(new Error(), { severity: 'FATAL', code: 'XX000' })
    }
    return {
      query,
      on: client.on.bind(client),
      removeListener: client.removeListener.bind(client),
      release: client.release.bind(client),
    }
  }
  await openStore().open()
  const store = openStore({
    pool: {
      connect,
      on: pool.on.bind(pool),
      removeListener: pool.removeListener.bind(pool),
      end: () => pool.end(),
    },
  })
  await store.open()
  isEnded = false
  const destination = drawDestination()
  await store.write((it) => it.orders.insert([sampleOrder(destination)]))
  expect(isEnded).toBe(true)
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
})

test('a server that does not tell its timeline is worked with, and known again', async () => {
  const flags = ['-c', 'allow_system_table_mods=on']
  await database.restart(flags)
  await database.create('aurora')
  await database.ask(
    `alter function pg_catalog.pg_current_wal_lsn() rename to own_wal_lsn;
      create function pg_catalog.pg_current_wal_lsn() returns pg_lsn
      language plpgsql as $$ begin raise object_not_in_prerequisite_state; end $$`,
    'aurora',
  )
  const url = database.url('aurora')
  const store = openStore({ connectionString: url })
  const { identity } = await store.open()
  await store.write((it) => it.setValue('a', {}))
  // Its place changes with the restart, so its identity is asked for again.
  await database.restart(flags)
  expect(await store.read((it) => it.getValue('a'))).toEqual({})
  expect(await openStore({ connectionString: url }).open()).toEqual({
    identity,
  })
  await database.ask('drop schema countersign cascade', 'aurora', 'shop')
  const replaced = openStore({ connectionString: url })
  expect((await replaced.open()).identity).not.toBe(identity)
  await expect(store.read((it) => it.getValue('a'))).rejects.toThrow(
    'restart the process',
  )
})

test('a standby is waited for until it takes writes', async () => {
  const [row] = await database.ask(
    `select current_setting('data_directory') as folder`,
  )
  await database.ask(`copy (select '') to '${row?.folder}/standby.signal'`)
  // Is over only once the standby is promoted.
  const restarted = database.restart()
  const isStandby = () =>
    database.ask('select pg_is_in_recovery() as yes').catch(() => undefined)
  await expect.poll(isStandby, { timeout: 10_000 }).toEqual([{ yes: true }])
  const store = openStore({ connectionString, schema: 'standby' })
  const opening = store.open()
  await Promise.race([opening, wait(300)])
  await database.ask('select pg_promote()')
  await opening
  await restarted
  await store.write((it) => it.setValue('a', {}))
  expect(await store.read((it) => it.getValue('a'))).toEqual({})
})
