import { expect, test } from 'vitest'
import { SealError, SealerUnavailableError, StoreError } from './errors.js'
import { endingSealer, limitSealer } from './limitSealer.js'
import { noSeal } from './noSeal.js'
import type { SealContext, Sealer } from './types.js'

const place: SealContext = {
  kind: 'payment',
  orderId: 'order',
  attempt: 1,
  chainId: 1,
  token: '0x01',
  payer: '0x02',
  nonce: '0x03',
}

const silent: Sealer = {
  ...noSeal,
  seal: () => new Promise(() => undefined),
  open: () => new Promise(() => undefined),
}

const failing = (error: unknown): Sealer => ({
  ...noSeal,
  seal: () => {
    throw error
  },
  open: () => Promise.reject(error),
})

const late = new SealerUnavailableError('did not answer within 1 ms')

test('a call that never answers fails after its time', async () => {
  const sealer = limitSealer(silent, 1)
  await expect(sealer.seal('secret', place)).rejects.toThrow(late)
  await expect(sealer.open('secret', place)).rejects.toThrow(late)
})

test('a call in time gives what the sealer gives', async () => {
  const sealer = limitSealer(noSeal, 3_600_000)
  const sealed = await sealer.seal('secret', place)
  expect(await sealer.open(sealed, place)).toBe('secret')
  expect([sealer.current, sealer.keyNames]).toEqual(['none', ['none']])
})

test.each([
  [new TypeError('secret'), 'The sealer failed with a TypeError.'],
  ['secret', 'The sealer failed.'],
  [new StoreError('secret'), 'The sealer failed with a StoreError.'],
])(
  'the failure %s is temporary, and its words are hidden',
  async (error, message) => {
    const sealer = limitSealer(failing(error), 3_600_000)
    const expected = {
      name: 'SealerUnavailableError',
      retryable: true,
      message,
    }
    await expect(sealer.seal('secret', place)).rejects.toMatchObject(expected)
    await expect(sealer.open('secret', place)).rejects.toMatchObject(expected)
  },
)

test.each([
  new SealError('is broken'),
  new StoreError('could not get a key', true),
])('the failure %s stays what it is', async (error) => {
  const sealer = limitSealer(failing(error), 3_600_000)
  await expect(sealer.seal('secret', place)).rejects.toBe(error)
  await expect(sealer.open('secret', place)).rejects.toBe(error)
})

test('open calls end with the signal, and no new ones begin', async () => {
  const stop = new AbortController()
  let calls = 0
  const counted: Sealer = {
    ...silent,
    open: () => {
      calls++
      return new Promise(() => undefined)
    },
  }
  const sealer = endingSealer(counted, stop.signal)
  const opening = sealer.open('secret', place)
  stop.abort()
  const ended = new SealerUnavailableError(
    'did not answer before the work was stopped',
  )
  await expect(opening).rejects.toThrow(ended)
  await expect(sealer.open('secret', place)).rejects.toThrow(ended)
  expect(calls).toBe(1)
})
