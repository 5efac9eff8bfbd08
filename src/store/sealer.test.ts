import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SealError, StoreError } from './errors.js'
import { noSeal } from './noSeal.js'
import { sealer } from './sealer.js'
import type { SealContext } from './types.js'

const r = '8f'.repeat(32)
const s = '3c'.repeat(32)
const secret = `0x${r}${s}1b`
const context: SealContext = {
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

const errorOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error('nothing was thrown'),
    (error) => error,
  )

test('what was sealed opens again, and each time it is sealed anew', async () => {
  const sealed = await one.seal(secret, context)
  expect(await one.open(sealed, context)).toBe(secret)
  const { encrypted_key, ciphertext, iv } = JSON.parse(sealed)
  const again = JSON.parse(await one.seal(secret, context))
  expect(again.encrypted_key).not.toBe(encrypted_key)
  expect(again.ciphertext).not.toBe(ciphertext)
  expect(again.iv).not.toBe(iv)
})

test('any text comes back as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      expect(await one.open(await one.seal(text, context), context)).toBe(text)
    }),
    { examples: [[''], ['\ufeff0x'], ['x'.repeat(200_000)]] },
  )
})

test('the sealed text is flattened JWE that names algorithms, key and place', async () => {
  const sealed = JSON.parse(await one.seal(secret, context))
  const read = (text: string) =>
    JSON.parse(Buffer.from(text, 'base64url').toString())
  expect(Object.keys(sealed).sort()).toEqual([
    'aad',
    'ciphertext',
    'encrypted_key',
    'iv',
    'protected',
    'tag',
  ])
  expect(read(sealed.protected)).toEqual({
    alg: 'A256KW',
    enc: 'A256GCM',
    kid: 'key-1',
  })
  expect(read(sealed.aad)).toEqual({
    ...context,
    token: context.token.toLowerCase(),
    payer: context.payer.toLowerCase(),
    nonce: context.nonce.toLowerCase(),
  })
})

test('no half of a signature shows in the sealed text, in any writing', async () => {
  const show = (sealed: string) =>
    [sealed, ...Object.values(JSON.parse(sealed)).map(String)]
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

const moves: [string, Partial<SealContext>][] = [
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
  expect(error.message).toBe('The secret was sealed for something else.')
})

test.each(moves)('nor when its %s is rewritten to fit', async (_, other) => {
  const moved = { ...context, ...other }
  const sealed = JSON.parse(await one.seal(secret, context))
  const { aad } = JSON.parse(await one.seal(secret, moved))
  const forged = JSON.stringify({ ...sealed, aad })
  const error = await errorOf(one.open(forged, moved))
  expect(error.message).toBe('The secret or its key was changed.')
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

test.each(['aad', 'ciphertext', 'encrypted_key', 'iv', 'protected', 'tag'])(
  'a %s that was changed anywhere, cut or left out does not open',
  async (member) => {
    const sealed = JSON.parse(await one.seal(secret, context))
    const text: string = sealed[member]
    // The last letter may hold bits that no byte takes.
    const changed = [...text.slice(0, -1)].map(
      (letter, at) =>
        text.slice(0, at) + (letter === 'A' ? 'B' : 'A') + text.slice(at + 1),
    )
    for (const other of [
      ...changed,
      text.slice(0, -4),
      '',
      undefined,
      1,
      null,
    ]) {
      const forged = JSON.stringify({ ...sealed, [member]: other })
      expect(await errorOf(one.open(forged, context))).toBeInstanceOf(SealError)
    }
  },
)

test.each(['header', 'unprotected', 'recipients'])(
  'a member %s beside the known ones is refused',
  async (member) => {
    const sealed = JSON.parse(await one.seal(secret, context))
    const forged = JSON.stringify({ ...sealed, [member]: { zip: 'DEF' } })
    const error = await errorOf(one.open(forged, context))
    expect(error.message).toBe('The secret is not sealed with keys.')
  },
)

test.each([
  'null',
  '1',
  '{}',
  '[]',
  '',
  secret,
  `{"protected":"${'A'.repeat(9)}"}`,
  `{"protected":"${Buffer.from('null').toString('base64url')}"}`,
])('text %$ is not sealed, and the error does not quote it', async (text) => {
  const error = await errorOf(one.open(text, context))
  expect(error).toBeInstanceOf(SealError)
  expect(error.message).toBe('The secret is not sealed with keys.')
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
    message: 'The secret needs the unknown key key-1.',
    details: { key: 'key-1' },
  })
})

test('another key under the same name does not open', async () => {
  const sealed = await one.seal(secret, context)
  const other = sealer({ keys: { 'key-1': keyOf(9) }, current: 'key-1' })
  const error = await errorOf(other.open(sealed, context))
  expect(error.message).toBe('The secret or its key was changed.')
})

test('a name that every object has is no key', async () => {
  const keys = { 'key-1': keyOf(1) }
  expect(() => sealer({ keys, current: 'toString' })).toThrow(
    'current must be the name of a key, not "toString".',
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

test('keys of Web Crypto and functions are taken, functions asked once', async () => {
  const usages = ['wrapKey', 'unwrapKey'] as const
  const key = await crypto.subtle.importKey(
    ...(['raw', keyOf(1), 'AES-KW', false, usages] as const),
  )
  let asked = 0
  const fetched = sealer({
    keys: {
      'key-1': async () => {
        asked++
        return key
      },
    },
    current: 'key-1',
  })
  expect(asked).toBe(0)
  const all = Array.from({ length: 9 }, () => fetched.seal(secret, context))
  for (const sealed of await Promise.all(all))
    expect(await one.open(sealed, context)).toBe(secret)
  const given = sealer({ keys: { 'key-1': key }, current: 'key-1' })
  const sealed = await one.seal(secret, context)
  expect(await given.open(sealed, context)).toBe(secret)
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

test('keys the caller wipes after handing them over stay good', async () => {
  const bytes = keyOf(1)
  const own = sealer({ keys: { 'key-1': bytes }, current: 'key-1' })
  bytes.fill(0)
  expect(await one.open(await own.seal(secret, context), context)).toBe(secret)
})

const wrongKeys: [string, unknown][] = [
  ['31 bytes', new Uint8Array(31)],
  ['16 bytes', new Uint8Array(16)],
  ['a string', 'k'.repeat(32)],
  ['undefined', undefined],
]

test.each(wrongKeys)('%s is no key, given or fetched', async (got, wrong) => {
  const keys = { 'key-1': wrong as Uint8Array }
  const problem = `The secret needs another key "key-1": pass 32 bytes or a 256-bit AES-KW key of Web Crypto, got ${got}.`
  expect(() => sealer({ keys, current: 'key-1' })).toThrow(problem)
  const fetched = sealer({
    keys: { 'key-1': async () => wrong as Uint8Array },
    current: 'key-1',
  })
  await expect(fetched.seal(secret, context)).rejects.toThrow(problem)
})

test('a key of Web Crypto for another purpose is refused', async () => {
  const key = await crypto.subtle.importKey(
    ...(['raw', keyOf(1), 'AES-GCM', false, ['encrypt']] as const),
  )
  const keys = { 'key-1': key }
  expect(() => sealer({ keys, current: 'key-1' })).toThrow(SealError)
})

test.each(['', 'a b', 'key\n1', 'k'.repeat(129)])(
  'a key cannot be named %o',
  (name) => {
    const make = () => sealer({ keys: { [name]: keyOf(1) }, current: name })
    expect(make).toThrow('keys must be named with 1 to 128')
  },
)

test('no error of a sealer holds the secret or a key', async () => {
  const sealed = JSON.parse(await one.seal(secret, context))
  const plain = await noSeal.seal(secret, context)
  const texts = [
    ...[secret, plain, JSON.stringify(secret), `{${secret}`],
    JSON.stringify({ ...sealed, tag: secret }),
    JSON.stringify({ ...sealed, protected: secret }),
    JSON.stringify({ ...sealed, ciphertext: secret }),
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
  expect(new Set(sealed.map((it) => JSON.parse(it).iv)).size).toBe(1_000)
  for (const [at, place] of places.entries())
    expect(await one.open(sealed[at] ?? '', place)).toBe(secret)
})

test('the bytes of a transaction open at their own account nonce only, and for what they do', async () => {
  const place: SealContext = {
    ...context,
    kind: 'transaction',
    account: context.payer,
    accountNonce: 7,
    action: 'capture',
  }
  const sealed = await one.seal(secret, place)
  expect(await one.open(sealed, place)).toBe(secret)
  const others: Partial<SealContext>[] = [
    { accountNonce: 8 },
    { accountNonce: undefined },
    { action: 'cancel' },
    { account: context.token },
  ]
  for (const other of others)
    await expect(one.open(sealed, { ...place, ...other })).rejects.toThrow(
      'sealed for something else',
    )
})
