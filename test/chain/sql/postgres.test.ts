import {
  LeaseLostError,
  type PaymentStore,
  StoreError,
} from 'countersign/store'
import { expect, test } from 'vitest'
import {
  drawDestination,
  drawSubmitter,
  sampleOrder,
} from '../../storeCases/samples.js'
import {
  connectionString,
  database,
  openPool,
  openStore,
  wait,
} from '../support/postgresStore.js'
import { startTcpProxy } from '../support/tcpProxy.js'

/** A promise to be kept from outside. */
function defer() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

test('two workers claim what is due side by side, and nothing twice', async () => {
  const [left, right] = [openStore(), openStore()]
  const { account, chainId } = drawSubmitter()
  const destination = drawDestination({ chainId })
  const rows = Array.from({ length: 30 }, (_, index) =>
    sampleOrder(destination, {
      submitter: account,
      sendDue: 1n,
      lookDue: 1n,
      deadline: BigInt(index),
    }),
  )
  await left.write((it) => it.orders.insert(rows))
  const queries = [
    {
      sendDue: { chainId, account },
      recipients: [destination.recipient],
      until: 1n,
      limit: 20,
    },
    { lookDue: [destination], until: 1n, limit: 20 },
  ]
  for (const query of queries) {
    const [claims, ends] = [defer(), defer()]
    const first = left.write(async (it) => {
      const found = await it.orders.find(query)
      claims.open()
      await ends.opened
      return found
    })
    await claims.opened
    const second = await right.write((it) => it.orders.find(query))
    const seen = await right.read((it) => it.orders.find(query))
    ends.open()
    const claimed = [...(await first), ...second].map(({ id }) => id)
    expect(claimed).toEqual(rows.map(({ id }) => id))
    expect(seen).toHaveLength(20)
  }
})

test('what one unit of work holds by id, another waits for and sees as it was left', async () => {
  const [left, right] = [openStore(), openStore()]
  const order = sampleOrder(drawDestination())
  const ids = [order.id]
  await left.write((it) => it.orders.insert([order]))
  const held = defer()
  const first = left.write(async (it) => {
    const rows = await it.orders.find({ ids })
    held.open()
    await wait(80)
    await it.orders.update(rows.map((row) => ({ ...row, tries: 1 })))
  })
  await held.opened
  const [row] = await right.write((it) => it.orders.find({ ids }))
  await first
  expect(row).toMatchObject({ tries: 1, version: 2 })
})

test('units of work that wait for each other in a circle both get through', async () => {
  const store = openStore()
  const orders = [
    sampleOrder(drawDestination()),
    sampleOrder(drawDestination()),
  ]
  await store.write((it) => it.orders.insert(orders))
  const bothHold = defer()
  let runs = 0
  const lockBoth = ([first, second]: readonly (readonly string[])[]) =>
    store.write(async (it) => {
      await it.orders.find({ ids: first ?? [] })
      if (++runs === 2) bothHold.open()
      await bothHold.opened
      await it.orders.find({ ids: second ?? [] })
    })
  const ids = orders.map(({ id }) => [id])
  await Promise.all([lockBoth(ids), lockBoth([...ids].reverse())])
  expect(runs).toBe(3)
})

test('a lease is not taken under the hands of who writes under it', async () => {
  const [left, right] = [openStore(), openStore()]
  const mine = { key: 'submitter', owner: 'left', milliseconds: 60_000 }
  const lease = await left.takeLease(mine)
  const [begins, ends] = [defer(), defer()]
  const unit = left.write(
    async (it) => {
      begins.open()
      await ends.opened
      await it.setValue('written', { by: 'left' })
    },
    { lease },
  )
  await begins.opened
  // Its owner does not wait, even for one that runs out at once.
  expect(await left.takeLease({ ...mine, milliseconds: 1 })).toEqual(lease)
  await wait(20)
  const taking = right.takeLease({ ...mine, owner: 'right' })
  expect(await Promise.race([taking, wait(100)])).toBeUndefined()
  ends.open()
  const taken = await taking
  expect(await right.read((it) => it.getValue('written'))).toEqual({
    by: 'left',
  })
  await unit
  expect(taken?.fence).toBeGreaterThan(lease?.fence ?? 0n)
  await expect(
    left.write((it) => it.setValue('written', { by: 'nobody' }), { lease }),
  ).rejects.toThrow(LeaseLostError)
  expect(await right.read((it) => it.getValue('written'))).toEqual({
    by: 'left',
  })
})

test('a setting that was read is not written over another one', async () => {
  const [left, right] = [openStore(), openStore()]
  const count = (store: PaymentStore) =>
    store.write(async (it) => {
      const { n = 0 } = (await it.getValue('count')) ?? {}
      await wait(5)
      await it.setValue('count', { n: Number(n) + 1 })
    })
  await Promise.all([left, right, left, right, left, right].map(count))
  expect(await left.read((it) => it.getValue('count'))).toEqual({ n: 6 })
})

test('a closed store answers no more, and may be closed again', async () => {
  const store = openStore()
  await store.open()
  await Promise.all([store.close(), store.close()])
  await expect(store.read((it) => it.getValue('a'))).rejects.toThrow(
    'The store is closed.',
  )
})

test('a user without rights to make tables works with those that are there', async () => {
  const owner = openStore({ connectionString, schema: 'ruled' })
  await owner.open()
  await database.ask(
    `create role clerk login password 'clerk';
      grant usage on schema ruled to clerk;
      grant select, insert, update on all tables in schema ruled to clerk;
      grant delete on ruled.leases, ruled.notes to clerk`,
    'shop',
  )
  const clerk = connectionString.replace('shop:shop', 'clerk:clerk')
  const store = openStore({ connectionString: clerk, schema: 'ruled' })
  const destination = drawDestination()
  await store.write((it) => it.orders.insert([sampleOrder(destination)]))
  const wanted = { key: 'submitter', owner: 'clerk', milliseconds: 60_000 }
  for (let rounds = 0; rounds < 2; rounds++) {
    const lease = await store.takeLease(wanted)
    if (lease) await store.releaseLease(lease)
  }
  await store.write(({ notes }) =>
    notes.insert([{ key: 'answer', until: 0n, data: {} }]),
  )
  await store.write(({ notes }) => notes.remove(['answer']))
  expect(await store.read((it) => it.orders.count([destination]))).toEqual({
    drafted: 1,
  })
  const barred = openStore({ connectionString: clerk, schema: 'elsewhere' })
  await expect(barred.open()).rejects.toThrow(
    'The store got an error from its database (42501).',
  )
})

test('writes wait for the disk whatever the user has set', async () => {
  await database.ask('alter role shop set synchronous_commit = off')
  const pool = openPool({ max: 1 })
  const store = openStore({ pool, schema: 'durable' })
  const client = await pool.connect()
  const look = async () =>
    (await client.query('show synchronous_commit')).rows[0]
  const seen = [await look()]
  client.release()
  await store.write(async (it) => {
    await it.setValue('a', {})
    // The pool has no other connection than this one.
    seen.push(await look())
  })
  await database.ask('alter role shop reset synchronous_commit')
  expect(seen).toEqual([
    { synchronous_commit: 'off' },
    { synchronous_commit: 'on' },
  ])
})

test('a server that does not wait for its disk is refused', async () => {
  await database.restart(['-c', 'fsync=off'])
  const error = await openStore()
    .open()
    .catch((error: unknown) => error)
  await database.restart()
  expect(error).toBeInstanceOf(StoreError)
  expect(String(error)).toContain(
    'The store needs a server with fsync = on, and this one has off.',
  )
})

test('a wrong password is told at once, and no word of it', async () => {
  const { port, host } = new URL(connectionString)
  const proxy = await startTcpProxy(`ws://${host}`)
  const wrong = connectionString
    .replace('shop:shop', 'shop:hunter2')
    .replace(`:${port}/`, `:${new URL(proxy.url).port}/`)
  const error = await openStore({ connectionString: wrong })
    .open()
    .catch((error: unknown) => error)
  // What may pass is tried again, over another connection each time.
  expect(proxy.count()).toBe(1)
  expect(error).toMatchObject({
    message:
      'The store got an error from its database (28P01): check the user and the password.',
    retryable: false,
  })
})
