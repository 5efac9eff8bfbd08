import { expect, test } from 'vitest'
import { startOpenings } from './openings.js'

/** Creates a secret that is decrypted when the test calls `open`. */
function hold() {
  let open: (secret: string) => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const secret = new Promise<string>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { secret, open, fail }
}

const never = () => Promise.reject(new Error('opened twice'))

test('a secret is opened once while it is being opened', async () => {
  const openings = startOpenings()
  const { secret, open } = hold()
  const first = openings.begin('key', () => secret)
  const second = openings.begin('key', never)
  open('secret')
  expect(await Promise.all([first, second])).toEqual(['secret', 'secret'])
})

test('a secret is late from when a look has waited for it until it is open', async () => {
  const openings = startOpenings()
  const { secret, open } = hold()
  const opening = openings.begin('key', () => secret)
  expect(openings.isLate('key')).toBe(false)
  openings.noteWaited('key')
  expect([openings.isLate('key'), openings.late()]).toEqual([true, 1])
  open('secret')
  await opening
  expect([openings.isLate('key'), openings.late()]).toEqual([false, 0])
})

test.each([true, false])(
  'a late secret is there for the look after it was opened, and for none later; opened: %s',
  async (isOpened) => {
    const openings = startOpenings()
    const { secret, open, fail } = hold()
    const opening = openings.begin('key', () => secret)
    openings.noteWaited('key')
    openings.endLook()
    if (isOpened) open('secret')
    else fail(new Error('silent'))
    await opening.catch(() => undefined)
    // The secret was decrypted during this poll, but too late for the poll to
    // use it.
    openings.endLook()
    const again = openings.begin('key', never)
    if (isOpened) expect(await again).toBe('secret')
    else await expect(again).rejects.toThrow('silent')
    openings.endLook()
    expect(await openings.begin('key', async () => 'new')).toBe('new')
  },
)

test('a secret that a look used is forgotten at its end', async () => {
  const openings = startOpenings()
  await openings.begin('key', async () => 'secret')
  openings.take('key')
  openings.endLook()
  expect(await openings.begin('key', async () => 'new')).toBe('new')
})

test('a late secret that a look used is not there for the next', async () => {
  const openings = startOpenings()
  const { secret, open } = hold()
  const opening = openings.begin('key', () => secret)
  openings.noteWaited('key')
  open('secret')
  await opening
  openings.take('key')
  openings.endLook()
  expect(await openings.begin('key', async () => 'new')).toBe('new')
})
