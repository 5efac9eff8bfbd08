import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SealError, StoreError } from './errors.js'
import { noSeal } from './noSeal.js'
import { sealer } from './sealer.js'
import type { SealContext } from './types.js'

const r = '8f'.repeat(32)
const s = '3c'.repeat(32)
const secret = `0x${r}${s}1b`
const context: Extract<SealContext, { orderId: string }> = {
  kind: 'payment',
  orderId: 'order-1',
  attempt: 1,
  chainId: 8453,
  token: `0x${'aB'.repeat(20)}`,
  payer: `0x${'cD'.repeat(20)}`,
  nonce: `0x${'eF'.repeat(32)}`,
}

const keyOf = (byte: number) => new Uint8Array(32).fill(byte)
const one = sealer({ keys: { 'key-1': keyOf(1) }, current: 'key-1' })

/** Splits a sealed text into key name, format version and letters. */
function partsOf(sealed: string) {
  const [name = '', version = '', letters = ''] = sealed.split(' ')
  const bytes = Buffer.from(letters, 'base64url')
  return {
    name,
    version,
    nonce: bytes.subarray(0, 24),
    ciphertext: bytes.subarray(24, -16),
    tag: bytes.subarray(-16),
  }
}

type Parts = ReturnType<typeof partsOf>

const join = ({ name, version, nonce, ciphertext, tag }: Parts) =>
  `${name} ${version} ${Buffer.concat([nonce, ciphertext, tag]).toString('base64url')}`

const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('nothing was thrown'),
    (error) => error,
  )

test('what was sealed opens again, and each time it is sealed anew', async () => {
  const sealed = await one.seal(secret, context)
  expect(await one.open(sealed, context)).toBe(secret)
  const [before, after] = [
    partsOf(sealed),
    partsOf(await one.seal(secret, context)),
  ]
  expect(after.nonce).not.toEqual(before.nonce)
  expect(after.ciphertext).not.toEqual(before.ciphertext)
  expect(after.tag).not.toEqual(before.tag)
})

test('any text comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      expect(await one.open(await one.seal(text, context), context)).toBe(text)
    }),
    { examples: [[''], ['\ufeff0x'], ['x'.repeat(200_000)]] },
  )
})

test('text that UTF-8 cannot represent is refused, as a secret and as an id', async () => {
  const [half, other] = ['a\ud800', 'a\ufffd']
  await expect(one.seal(half, context)).rejects.toThrow(SealError)
  const place = { ...context, orderId: half }
  await expect(one.seal(secret, place)).rejects.toThrow(SealError)
  const sealed = await one.seal(secret, { ...context, orderId: other })
  await expect(one.open(sealed, place)).rejects.toThrow(SealError)
})

test('the sealed text names its key and version, and hex takes half its length in bytes', async () => {
  const sealed = await one.seal(secret, context)
  expect(sealed).toMatch(/^key-1 1 [\w-]+$/)
  const { nonce, ciphertext, tag } = partsOf(sealed)
  expect([nonce.length, ciphertext.length, tag.length]).toEqual([24, 66, 16])
  const transaction = `0x${'0a'.repeat(432)}`
  expect(await one.seal(transaction, context)).toHaveLength(639)
  expect(await one.open(await one.seal(transaction, context), context)).toBe(
    transaction,
  )
})

test.each(['0xABCD', '0xabc', '0x', '0xab ', '0Xab', 'ab', '0xab\n'])(
  'text %j that is not canonical hex comes back as it was',
  async (text) => {
    expect(await one.open(await one.seal(text, context), context)).toBe(text)
  },
)

test('no half of a signature shows in the sealed text, in any writing', async () => {
  const show = (sealed: string) =>
    [sealed, ...sealed.split(' ')]
      .flatMap((text) => [
        text,
        Buffer.from(text, 'base64url').toString('latin1'),
        Buffer.from(text, 'base64url').toString('hex'),
      ])
      .join('\n')
  const traces = [r, s].flatMap((half) => {
    const bytes = Buffer.from(half, 'hex')
    const texts = [half, half.toUpperCase(), bytes.toString('latin1')]
    const written = [bytes, Buffer.from(half)].flatMap((it) => [
      it.toString('base64').slice(0, 40),
      it.toString('base64url').slice(0, 40),
      it.toString('hex'),
    ])
    return [...texts, ...written]
  })
  const findTraces = (shown: string) =>
    traces.filter((it) => shown.includes(it))
  expect(findTraces(show(await one.seal(secret, context)))).toEqual([])
  const plain = findTraces(await noSeal.seal(secret, context))
  expect(plain).toEqual(expect.arrayContaining([r, s]))
})

const notOpened =
  'The secret was changed, or was sealed for something else, or with another key of the same name.'

const moves: [string, Partial<typeof context>][] = [
  ['kind', { kind: 'cancellation' }],
  ['order', { orderId: 'order-2' }],
  ['attempt', { attempt: 2 }],
  ['chain', { chainId: 1 }],
  ['token', { token: `0x${'ab'.repeat(19)}ac` }],
  ['payer', { payer: `0x${'cd'.repeat(19)}ce` }],
  ['nonce', { nonce: `0x${'ef'.repeat(31)}ee` }],
]

test.each(moves)('it does not open for another %s', async (_, other) => {
  const sealed = await one.seal(secret, context)
  const error = await errorOf(one.open(sealed, { ...context, ...other }))
  expect(error).toBeInstanceOf(SealError)
  expect(error.message).toBe(notOpened)
})

test('letter case of addresses and nonce makes no difference', async () => {
  const lower: SealContext = {
    ...context,
    token: `0x${'ab'.repeat(20)}`,
    payer: `0x${'cd'.repeat(20)}`,
    nonce: `0x${'ef'.repeat(32)}`,
  }
  expect(await one.open(await one.seal(secret, context), lower)).toBe(secret)
})

test.each(['nonce', 'ciphertext', 'tag'] as const)(
  'a %s with one bit flipped anywhere, or cut, does not open',
  async (member) => {
    const sealed = partsOf(await one.seal(secret, context))
    const forge = async (bytes: Buffer) =>
      errorOf(one.open(join({ ...sealed, [member]: bytes }), context))
    for (let bit = 0; bit < sealed[member].length * 8; bit++) {
      const bytes = Buffer.from(sealed[member])
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const error = await forge(bytes)
      expect(error).toBeInstanceOf(SealError)
      expect(error.message).toBe(notOpened)
    }
    for (const length of [0, 1, sealed[member].length - 1])
      expect(await forge(sealed[member].subarray(0, length))).toBeInstanceOf(
        SealError,
      )
  },
)

test('a text that is cut anywhere, or longer by one letter, does not open', async () => {
  const sealed = await one.seal(secret, context)
  for (let length = 0; length < sealed.length; length++)
    expect(
      await errorOf(one.open(sealed.slice(0, length), context)),
    ).toBeInstanceOf(SealError)
  for (const letter of ['A', '=', ' ', '\n', '+', ' A'])
    expect(await errorOf(one.open(sealed + letter, context))).toBeInstanceOf(
      SealError,
    )
})

test('each text has one writing: no other last letter opens', async () => {
  // A sealed secret of this length leaves two unused bits in the last letter of
  // its base64url.
  const sealed = await one.seal(`0x${'0a'.repeat(432)}`, context)
  const letters =
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const opened: string[] = []
  for (const letter of letters) {
    const text = sealed.slice(0, -1) + letter
    if (!((await errorOf(one.open(text, context))) instanceof SealError))
      opened.push(text)
  }
  expect(opened).toEqual([sealed])
})

test('a seal under the name of another key, or of another version, does not open', async () => {
  const keys = { 'key-1': keyOf(1), 'key-2': keyOf(1) }
  const both = sealer({ keys, current: 'key-1' })
  const sealed = partsOf(await both.seal(secret, context))
  // The same 32 bytes under two names are two keys: text that one sealed does
  // not open with the other.
  const renamed = join({ ...sealed, name: 'key-2' })
  expect((await errorOf(both.open(renamed, context))).message).toBe(notOpened)
  const newer = join({ ...sealed, version: '2' })
  expect((await errorOf(both.open(newer, context))).message).toBe(
    'The secret does not have the form that a sealer with keys writes.',
  )
})

test.each([
  'null',
  '1',
  '{}',
  '[]',
  '',
  secret,
  'key-1 1 ',
  `key-1 1 ${'A'.repeat(32)}`,
  `key-1 1 +${secret}`,
  `none 1 ${'A'.repeat(90)}`,
  `key-1 1 ${'A'.repeat(90)} ${'A'.repeat(90)}`,
])('text %$ is not sealed, and the error does not quote it', async (text) => {
  const error = await errorOf(one.open(text, context))
  expect(error).toBeInstanceOf(SealError)
  expect(error.message).toBe(
    'The secret does not have the form that a sealer with keys writes.',
  )
})

test('keys rotate: the new one seals, the old one still opens', async () => {
  const old = await one.seal(secret, context)
  const keys = { 'key-1': keyOf(1), 'key-2': keyOf(2) }
  const both = sealer({ keys, current: 'key-2' })
  expect(await both.open(old, context)).toBe(secret)
  const fresh = await both.seal(secret, context)
  const onlyNew = sealer({ keys: { 'key-2': keyOf(2) }, current: 'key-2' })
  expect(await onlyNew.open(fresh, context)).toBe(secret)
  await expect(onlyNew.open(old, context)).rejects.toMatchObject({
    name: 'SealError',
    message:
      'The secret was sealed with the key key-1, which is not among your keys.',
    details: { key: 'key-1' },
  })
})

test('a lost key is named among those to start with, and does not open', async () => {
  const old = await one.seal(secret, context)
  const keys = { 'key-2': keyOf(2) }
  const { keyNames, open } = sealer({
    keys,
    current: 'key-2',
    lost: ['key-1', 'none'],
  })
  expect(keyNames).toEqual(['key-2', 'key-1', 'none'])
  await expect(open(old, context)).rejects.toThrow(
    'The secret was sealed with the key key-1, which is not among your keys.',
  )
})

test.each<[string, unknown]>([
  ['a name alone', 'key-1'],
  ['a key that is given', ['key-2']],
  ['a name that no key has', ['a b']],
  ['a number', [7]],
])('%s is not taken as lost', (_, lost) => {
  const keys = { 'key-2': keyOf(2) }
  expect(() => sealer({ keys, current: 'key-2', lost: lost as never })).toThrow(
    /^lost(\[0\])? must be/,
  )
})

test('another key under the same name does not open', async () => {
  const sealed = await one.seal(secret, context)
  const other = sealer({ keys: { 'key-1': keyOf(9) }, current: 'key-1' })
  const error = await errorOf(other.open(sealed, context))
  expect(error.message).toBe(notOpened)
})

test('a name that every object has is no key', async () => {
  const keys = { 'key-1': keyOf(1) }
  expect(() => sealer({ keys, current: 'toString' })).toThrow(
    'current must be one of key-1, not "toString".',
  )
})

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['no keys', { current: 'key-1' }],
  ['one key alone', { keys: 'secret', current: 'key-1' }],
])('%s is no way to seal', (_, given) => {
  expect(() => sealer(given as never)).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      message: expect.not.stringContaining('secret'),
    }),
  )
})

test('functions are taken as keys, and asked once', async () => {
  let asked = 0
  const fetched = sealer({
    keys: {
      'key-1': async () => {
        asked++
        return keyOf(1)
      },
    },
    current: 'key-1',
  })
  expect(asked).toBe(0)
  const all = Array.from({ length: 9 }, () => fetched.seal(secret, context))
  for (const sealed of await Promise.all(all))
    expect(await one.open(sealed, context)).toBe(secret)
  expect(asked).toBe(1)
})

test('a key that could not be fetched is asked for again', async () => {
  const answers = [new Error(secret), keyOf(1)]
  const key = async () => {
    const answer = answers.shift()
    if (!(answer instanceof Uint8Array)) throw answer
    return answer
  }
  const fetched = sealer({ keys: { 'key-1': key }, current: 'key-1' })
  const error = await errorOf(fetched.seal(secret, context))
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ retryable: true })
  expect(error.cause).toBeUndefined()
  expect(error.message).toBe('The store could not get the key key-1.')
  const sealed = await fetched.seal(secret, context)
  expect(await one.open(sealed, context)).toBe(secret)
})

test('a key that does not come is given up after 30 seconds, and asked for again', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  let asked = 0
  const key = () =>
    asked++ ? Promise.resolve(keyOf(1)) : new Promise<never>(() => undefined)
  const fetched = sealer({ keys: { 'key-1': key }, current: 'key-1' })
  const early = errorOf(fetched.seal(secret, context))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await early).toMatchObject({
    message: 'The store could not get the key key-1.',
    retryable: true,
  })
  expect(vi.getTimerCount()).toBe(0)
  const sealed = await fetched.seal(secret, context)
  expect(await one.open(sealed, context)).toBe(secret)
  expect(vi.getTimerCount()).toBe(0)
})

test('a key service that stays down is asked ever more rarely, and each failure is reported', async () => {
  vi.useFakeTimers()
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const asked: number[] = []
  const began = performance.now()
  let isDown = true
  const key = async () => {
    asked.push(performance.now() - began)
    if (isDown) throw new Error('down')
    return keyOf(1)
  }
  const fetched = sealer({ keys: { 'key-1': key }, current: 'key-1' })
  for (let at = 0; at < 20_000; at += 50) {
    expect(await errorOf(fetched.seal(secret, context))).toMatchObject({
      message: 'The store could not get the key key-1.',
      retryable: true,
    })
    await vi.advanceTimersByTimeAsync(50)
  }
  // The pause between two attempts doubles from 100 ms to 5 s. The second
  // attempt follows the first failure without a pause.
  expect(asked).toEqual([0, 50, 150, 350, 750, 1550, 3150, 6350, 11350, 16350])
  isDown = false
  await vi.advanceTimersByTimeAsync(5_000)
  const sealed = await fetched.seal(secret, context)
  expect(await one.open(sealed, context)).toBe(secret)
})

test('keys the caller wipes after handing them over stay good', async () => {
  const bytes = keyOf(1)
  const own = sealer({ keys: { 'key-1': bytes }, current: 'key-1' })
  bytes.fill(0)
  expect(await one.open(await own.seal(secret, context), context)).toBe(secret)
})

const wrongKeys: [string, unknown][] = [
  ['31 bytes', new Uint8Array(31)],
  ['16 bytes', new Uint8Array(16)],
  ['64 bytes', new Uint8Array(64)],
  ['another object', new ArrayBuffer(32)],
  ['a string', 'k'.repeat(32)],
  ['undefined', undefined],
]

test.each(wrongKeys)('%s is no key, given or fetched', async (got, wrong) => {
  const keys = { 'key-1': wrong as Uint8Array }
  const problem = `The secret needs a key of 32 bytes as "key-1", got ${got}: make one with crypto.getRandomValues(new Uint8Array(32)), or with "openssl rand -hex 32" and Buffer.from(hex, 'hex').`
  expect(() => sealer({ keys, current: 'key-1' })).toThrow(problem)
  const fetched = sealer({
    keys: { 'key-1': async () => wrong as Uint8Array },
    current: 'key-1',
  })
  await expect(fetched.seal(secret, context)).rejects.toThrow(problem)
})

test.each(['', 'a b', 'key\n1', 'k'.repeat(129), 'none'])(
  'a key cannot be named %o',
  (name) => {
    const make = () => sealer({ keys: { [name]: keyOf(1) }, current: name })
    expect(make).toThrow('keys must be named with 1 to 128')
  },
)

test('no error of a sealer holds the secret or a key', async () => {
  const sealed = await one.seal(secret, context)
  const plain = await noSeal.seal(secret, context)
  const texts = [
    ...[secret, plain, JSON.stringify(secret), `{${secret}`],
    ...[`key-1 ${secret}`, `key-1 1 ${secret}`, `${secret} 1 ${secret}`],
    ...[`${sealed}${secret.slice(2)}`, `${secret.slice(2, 100)} 1 AAAA`],
  ]
  for (const text of texts) {
    const error = await errorOf(one.open(text, context))
    expect(error).toBeInstanceOf(SealError)
    const shown = `${error.stack} ${JSON.stringify(error)}`
    expect(shown).not.toContain(r.slice(0, 12))
    expect(error.cause).toBeUndefined()
  }
})

test('plain text is marked: neither kind is opened as the other', async () => {
  const plain = await noSeal.seal(secret, context)
  expect(await noSeal.open(plain, context)).toBe(secret)
  await expect(one.open(plain, context)).rejects.toThrow(SealError)
  const sealed = await one.seal(secret, context)
  await expect(noSeal.open(sealed, context)).rejects.toThrow(SealError)
  await expect(noSeal.open(secret, context)).rejects.toThrow(SealError)
})

test('1,000 secrets are sealed and opened, each on its own', async () => {
  const places = Array.from({ length: 1_000 }, (_, attempt) => ({
    ...context,
    attempt,
  }))
  const sealed = await Promise.all(places.map((it) => one.seal(secret, it)))
  const nonces = sealed.map((it) => partsOf(it).nonce.toString('hex'))
  expect(new Set(nonces).size).toBe(1_000)
  for (const [at, place] of places.entries())
    expect(await one.open(sealed[at] ?? '', place)).toBe(secret)
})

test('the bytes of a transaction open at their own account nonce only, and for what they do', async () => {
  const place: SealContext = {
    kind: 'transaction',
    action: 'capture',
    chainId: context.chainId,
    account: context.payer,
    accountNonce: 7,
    bump: 0,
  }
  const sealed = await one.seal(secret, place)
  expect(await one.open(sealed, place)).toBe(secret)
  const others: Partial<typeof place>[] = [
    { accountNonce: 8 },
    { bump: 1 },
    { action: 'cancel' },
    { account: context.token },
    { chainId: 1 },
  ]
  for (const other of others)
    await expect(one.open(sealed, { ...place, ...other })).rejects.toThrow(
      'sealed for something else',
    )
  await expect(one.open(sealed, context)).rejects.toThrow('something else')
})

test('a key of another realm, as a test runner has, seals as any other does', async () => {
  const foreign: Uint8Array = runInNewContext('new Uint8Array(32).fill(1)')
  expect(foreign instanceof Uint8Array).toBe(false)
  for (const key of [foreign, async () => foreign]) {
    const sealed = await sealer({
      keys: { 'key-1': key },
      current: 'key-1',
    }).seal(secret, context)
    expect(await one.open(sealed, context)).toBe(secret)
  }
  const short: Uint8Array = runInNewContext('new Uint8Array(31)')
  expect(() => sealer({ keys: { short }, current: 'short' })).toThrow(
    'got 31 bytes',
  )
})
