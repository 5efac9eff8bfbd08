import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore, sealer } from 'countersign/store'
import {
  type ChannelStorageParameters,
  channelStorage,
  type X402Channel,
  type X402ChannelStorage,
} from 'countersign/x402'
import Database from 'libsql'
import { afterAll, expect, test } from 'vitest'
import { drawHash } from '../../storeCases/samples.js'
import { database, openStore } from '../support/postgresStore.js'
import { charge, stockChannel } from '../support/stockChannel.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-channels-'))
const children: ChildProcess[] = []
const stores: PaymentStore[] = []
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const store of stores) await store.close()
  rmSync(folder, { recursive: true, force: true })
})

let files = 0

/** A database, opened as often as `open` is called, and its name for a writer. */
type Place = {
  open(): PaymentStore
  url: string
  spoil(key: string, text: string): Promise<unknown>
}

const placesOf = {
  memory: async (): Promise<Place> => {
    const store = memoryStore({ volatile: true })
    return {
      open: () => store,
      url: '',
      spoil: () => Promise.reject(new Error('memory keeps no text')),
    }
  },
  SQLite: async (): Promise<Place> => {
    const file = join(folder, `${files++}.db`)
    return {
      open: () => {
        const store = sqliteStore({ file })
        stores.push(store)
        return store
      },
      url: file,
      spoil: async (key, text) => {
        const sqlite = new Database(file)
        sqlite
          .prepare('update settings set value = ? where key = ?')
          .run(text, key)
        sqlite.close()
      },
    }
  },
  PostgreSQL: async (): Promise<Place> => {
    const name = `channels${files++}`
    const url = await database.create(name)
    return {
      open: () => openStore({ connectionString: url }),
      url,
      spoil: (key, text) =>
        database.ask(
          `update countersign.settings set value = '${text}' where key = '${key}'`,
          name,
          'shop',
        ),
    }
  },
}

const everywhere = ['memory', 'SQLite', 'PostgreSQL'] as const
const onDisk = ['SQLite', 'PostgreSQL'] as const

type Where = (typeof everywhere)[number]

/** Two storages over one database, as two processes have them. */
async function openTwo(where: Where, parameters?: ChannelStorageParameters) {
  const place = await placesOf[where]()
  const [store, other] = [place.open(), place.open()]
  return {
    place,
    store,
    one: channelStorage(store, parameters),
    two: channelStorage(other, parameters),
  }
}

async function insert(
  storage: X402ChannelStorage,
  facts: Partial<X402Channel> = {},
): Promise<X402Channel> {
  const channel = stockChannel(facts)
  await storage.updateChannel(channel.channelId, () => channel)
  return channel
}

const keys = {
  one: new Uint8Array(32).fill(1),
  two: new Uint8Array(32).fill(2),
}
const seal = (current: keyof typeof keys) => sealer({ keys, current })

test.each(everywhere)(
  'in %s, a channel comes back as it was given, changes, and goes',
  async (where) => {
    const { one, two } = await openTwo(where)
    const channel = { ...stockChannel(), later: { member: ['kept'] } }
    const { channelId } = channel
    const upper = `0x${channelId.slice(2).toUpperCase()}`
    expect(await one.get(channelId)).toBeUndefined()
    expect(await one.updateChannel(channelId, (current) => current)).toEqual({
      channel: undefined,
      status: 'unchanged',
    })
    expect(await one.updateChannel(upper, () => channel)).toEqual({
      channel,
      status: 'updated',
    })
    expect(await two.get(channelId)).toEqual(channel)
    expect(await two.get(upper)).toEqual(channel)
    expect(await two.list()).toEqual([channel])
    const done = await two.updateChannel(channelId, (current) => {
      if (!current) throw new Error('no channel')
      const { pendingRequest: _, ...rest } = current
      return { ...rest, balance: '0' }
    })
    const { pendingRequest: _, ...rest } = channel
    const changed = { ...rest, balance: '0' }
    expect(done).toEqual({ channel: changed, status: 'updated' })
    expect(await one.get(channelId)).toEqual(changed)
    expect(await one.updateChannel(channelId, (current) => current)).toEqual({
      channel: changed,
      status: 'unchanged',
    })
    expect(await one.updateChannel(channelId, () => undefined)).toEqual({
      channel: undefined,
      status: 'deleted',
    })
    expect(await two.get(channelId)).toBeUndefined()
    expect(await two.list()).toEqual([])
    await two.updateChannel(channelId, () => channel)
    expect(await one.get(channelId)).toEqual(channel)
  },
)

test.each(everywhere)('in %s, channels are listed by id', async (where) => {
  const { one, two } = await openTwo(where)
  const ids: string[] = []
  for (let at = 0; at < 5; at++) ids.push((await insert(one)).channelId)
  expect((await two.list()).map(({ channelId }) => channelId)).toEqual(
    ids.sort(),
  )
})

test.each(everywhere)(
  'in %s, 50 updates of one channel at once, by two processes, lose nothing',
  async (where) => {
    const { one, two } = await openTwo(where)
    const { channelId } = await insert(one)
    const charges = Array.from({ length: 50 }, (_, at) =>
      (at % 2 ? one : two).updateChannel(channelId, charge(BigInt(at + 1))),
    )
    const ends = await Promise.all(charges)
    const totals = ends.map(({ channel }) => channel?.chargedCumulativeAmount)
    expect(new Set(totals).size).toBe(50)
    const kept = await one.get(channelId)
    expect(kept?.chargedCumulativeAmount).toBe('1275')
  },
)

test.each(onDisk)(
  'in %s, an update runs again with the newer record when another process wrote first',
  async (where) => {
    const { one, two } = await openTwo(where)
    const { channelId } = await insert(one)
    const seen: (string | undefined)[] = []
    await one.updateChannel(channelId, async (current) => {
      seen.push(current?.chargedCumulativeAmount)
      if (seen.length === 1) await two.updateChannel(channelId, charge(5n))
      return charge(1n)(current)
    })
    expect(seen).toEqual(['0', '5'])
    expect((await two.get(channelId))?.chargedCumulativeAmount).toBe('6')
    const deleted = await one.updateChannel(channelId, async (current) => {
      if (seen.length++ === 2)
        await two.updateChannel(channelId, () => undefined)
      return charge(1n)(current)
    })
    expect(deleted).toEqual({ channel: undefined, status: 'unchanged' })
  },
)

test.each(everywhere)(
  'in %s, an update that throws changes nothing, and the next one runs',
  async (where) => {
    const { one } = await openTwo(where)
    const channel = await insert(one)
    const failure = new Error('the update fails')
    const failed = one.updateChannel(channel.channelId, () => {
      throw failure
    })
    const next = one.updateChannel(channel.channelId, charge(1n))
    await expect(failed).rejects.toBe(failure)
    expect((await next).channel?.chargedCumulativeAmount).toBe('1')
  },
)

test.each(onDisk)(
  'in %s, two processes that charge one channel lose nothing',
  async (where) => {
    const { place, one } = await openTwo(where)
    const { channelId } = await insert(one)
    const writers = [1, 2].map(() => startWriter(place.url, channelId, '20'))
    const own = Array.from({ length: 10 }, () =>
      one.updateChannel(channelId, charge(1n)),
    )
    const codes = await Promise.all(
      writers.map(async (writer) => (await once(writer, 'exit'))[0]),
    )
    await Promise.all(own)
    expect(codes).toEqual([0, 0])
    expect((await one.get(channelId))?.chargedCumulativeAmount).toBe('50')
  },
)

test.each(onDisk)(
  'in %s, a process killed in an update leaves the channel as it was and blocks nobody, and its lock ends',
  async (where) => {
    const { place, one } = await openTwo(where)
    const channel = await insert(one)
    const { channelId } = channel
    const writer = startWriter(place.url, channelId, '1', 'hang')
    if (!writer.stdout) throw new Error('no output')
    await once(writer.stdout, 'data')
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    expect(await one.get(channelId)).toEqual(channel)
    const done = await one.updateChannel(channelId, charge(7n))
    expect(done.channel?.chargedCumulativeAmount).toBe('7')
    await expect
      .poll(() => one.acquire(channelId, 'next', 60_000), { timeout: 60_000 })
      .toBe(true)
    expect(await one.isHeld(channelId, 'killed')).toBe(false)
  },
)

function startWriter(...words: string[]): ChildProcess {
  const file = 'test/chain/support/channelWriter.ts'
  const args = ['--import', 'tsx', file, ...words]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return child
}

test.each(everywhere)(
  'in %s, a lock is given once until it is released or over',
  async (where) => {
    const { one, two } = await openTwo(where)
    const [channelId, other] = [drawHash(), drawHash()]
    expect(await one.isHeld(channelId)).toBe(false)
    const asked = await Promise.all(
      ['a', 'b', 'c', 'd'].map((pendingId, at) =>
        (at % 2 ? one : two).acquire(channelId, pendingId, 60_000),
      ),
    )
    expect(asked.filter(Boolean)).toHaveLength(1)
    const holder = 'abcd'.charAt(asked.indexOf(true))
    expect(await two.acquire(channelId, holder, 60_000)).toBe(false)
    expect(await two.isHeld(channelId.toUpperCase().replace('X', 'x'))).toBe(
      true,
    )
    expect(await two.isHeld(channelId, holder)).toBe(true)
    expect(await two.isHeld(channelId, 'other')).toBe(false)
    expect(await two.isHeld(other)).toBe(false)
    await two.release(channelId, 'other')
    expect(await one.isHeld(channelId, holder)).toBe(true)
    await two.release(channelId, holder)
    await two.release(channelId, holder)
    expect(await one.isHeld(channelId)).toBe(false)
    expect(await one.acquire(channelId, 'short', 1)).toBe(true)
    await expect.poll(() => two.acquire(channelId, 'long', 60_000)).toBe(true)
    await one.release(channelId, 'short')
    expect(await one.isHeld(channelId, 'long')).toBe(true)
    expect(await one.list()).toEqual([])
  },
)

test.each(onDisk)(
  'in %s, a broken record is left out of the list and reported, and refused by its id',
  async (where) => {
    const reports: unknown[] = []
    const observe = (report: unknown) => reports.push(report)
    const { one, place } = await openTwo(where, { observe })
    const [whole, empty, odd] = [
      await insert(one),
      await insert(one),
      await insert(one),
    ]
    const keyOf = ({ channelId }: X402Channel) => `x402Channel:${channelId}`
    await place.spoil(keyOf(empty), '')
    await place.spoil(
      keyOf(odd),
      JSON.stringify({ ...odd, balance: 'a lot', signature: '0xsecret' }),
    )
    expect(await one.list()).toEqual([whole])
    const wordsOf = (path: string) => `The store has an invalid value: ${path}.`
    const words = new Map([
      [empty.channelId, wordsOf(keyOf(empty))],
      [odd.channelId, wordsOf(`${keyOf(odd)}.balance`)],
    ])
    expect(reports).toHaveLength(2)
    for (const [channelId, message] of words) {
      expect(reports).toContainEqual({
        name: 'x402.channel.failed',
        attributes: { channelId, error: 'StoreError', words: message },
      })
      await expect(one.get(channelId)).rejects.toThrow(message)
      const update = one.updateChannel(channelId, () => undefined)
      await expect(update).rejects.toThrow(message)
    }
  },
)

test.each(everywhere)(
  'in %s, the signature is sealed for its channel and amount, and old ones stay readable',
  async (where) => {
    const { store, one: plain } = await openTwo(where)
    const [open, moved] = [await insert(plain), await insert(plain)]
    const first = channelStorage(store, { seal: seal('one') })
    const storedOf = ({ channelId }: X402Channel) =>
      store.read((it) => it.getValue(`x402Channel:${channelId}`))
    expect(await first.list()).toEqual(await plain.list())
    await first.updateChannel(open.channelId, charge(1n))
    const { signature: sealed } = Object(await storedOf(open))
    expect(sealed).toMatch(/^one 1 /)
    const charged = { ...open, chargedCumulativeAmount: '1' }
    expect(await first.get(open.channelId)).toEqual(charged)

    await first.updateChannel(open.channelId, charge(1n))
    expect(await storedOf(open)).toMatchObject({ signature: sealed })
    const second = channelStorage(store, { seal: seal('two') })
    await second.updateChannel(open.channelId, charge(1n))
    const { signature: resealed } = Object(await storedOf(open))
    expect(resealed).toMatch(/^two 1 /)
    expect(await second.get(open.channelId)).toMatchObject({
      signature: open.signature,
      chargedCumulativeAmount: '3',
    })

    const refusal = 'is sealed, but channelStorage has no seal'
    await expect(plain.get(open.channelId)).rejects.toThrow(refusal)
    const raised = { ...Object(await storedOf(open)), signedMaxClaimable: '9' }
    const others = [moved.channelId, open.channelId]
    for (const channelId of others) {
      await store.write((it) =>
        it.setValue(`x402Channel:${channelId}`, { ...raised, channelId }),
      )
      await expect(second.get(channelId)).rejects.toThrow('was changed')
    }
    expect(await second.list()).toEqual([])
  },
)

test('a sealer that fails hides no channel from the list, and says no secret', async () => {
  const broken = {
    ...seal('one'),
    open: (text: string) => Promise.reject(new Error(text)),
  }
  const { store, one } = await openTwo('memory', { seal: seal('one') })
  const { channelId } = await insert(one)
  const storage = channelStorage(store, { seal: broken })
  const refusal = { name: 'SealerUnavailableError', retryable: true }
  await expect(storage.list()).rejects.toMatchObject(refusal)
  await expect(storage.get(channelId)).rejects.toMatchObject(refusal)
})

const signature = `0x${'5e'.repeat(65)}`

test.each<[string, object, string]>([
  ['without an amount', { balance: undefined }, 'channel.balance must be'],
  [
    'with an amount in hexadecimal',
    { signedMaxClaimable: '0x9c40' },
    'channel.signedMaxClaimable must be a text of digits, not a string',
  ],
  [
    'with a fraction',
    { refundNonce: 0.5 },
    'channel.refundNonce must be an int',
  ],
  ['without config', { channelConfig: 'x' }, 'channel.channelConfig must be'],
  ['of another id', { channelId: drawHash() }, 'channel.channelId must be the'],
  [
    'with an odd signature',
    { signature: `${signature} ` },
    'channel.signature must be hexadecimal',
  ],
])(
  'a channel %s is refused, and its signature not shown',
  async (_, facts, words) => {
    const storage = channelStorage(memoryStore({ volatile: true }))
    const channel = stockChannel({ signature })
    const wrong = { ...channel, ...facts }
    const error = await storage
      .updateChannel(channel.channelId, () => wrong)
      .catch((it: unknown) => it)
    expect(error).toMatchObject({ name: 'InvalidFieldError' })
    expect(String(error)).toContain(words)
    expect(JSON.stringify(error) + String(error)).not.toContain('5e5e')
    expect(await storage.list()).toEqual([])
  },
)

test('malformed parameters are refused by name', async () => {
  const store = memoryStore({ volatile: true })
  const open = (given: unknown, options?: object) => () =>
    channelStorage(given as PaymentStore, options)
  expect(open({})).toThrow('store must be a store, not an object.')
  expect(open(store, { sael: 1 })).toThrow('only the members seal, observe')
  expect(open(store, { seal: 'none' })).toThrow('seal must be a sealer')
  const storage = channelStorage(store)
  for (const wrong of ['', '0x12', `${drawHash()}00`, undefined as never])
    await expect(async () => storage.get(wrong)).rejects.toThrow(
      'channelId must be 32 bytes in hexadecimal',
    )
  await expect(storage.acquire(drawHash(), '', 1)).rejects.toThrow('pendingId')
  for (const wrong of [0, -1, 0.5, Number.NaN])
    await expect(storage.acquire(drawHash(), 'a', wrong)).rejects.toThrow(
      'ttlMs must be a positive integer',
    )
})
