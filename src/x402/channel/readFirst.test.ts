import { expect, test, vi } from 'vitest'
import { readFirst } from './readFirst.js'

const open = () => {
  const leaving = new AbortController()
  const { signal } = leaving
  const request = new Request('https://shop.example', { signal })
  return { request, leave: () => leaving.abort() }
}

/** A stream without a part, until `next`. */
function silentStream() {
  const cancel = vi.fn()
  let next = () => {}
  const body = new ReadableStream({
    start: (controller) => {
      next = () => controller.enqueue(new Uint8Array(1))
    },
    cancel,
  })
  return { response: new Response(body), cancel, next: () => next() }
}

test('the first part comes while a client that joined waits', async () => {
  const first = open()
  const joined = open()
  const { response, next } = silentStream()
  const waiting = [first.request, joined.request]
  const read = readFirst(response, { waiting, timeout: 60_000 })
  first.leave()
  next()
  const reader = (await read).body?.getReader()
  expect(await reader?.read()).toMatchObject({ done: false })
})

test('a stream ends as soon as all clients have left, also those that joined', async () => {
  const first = open()
  const joined = open()
  const { response, cancel } = silentStream()
  const waiting = [first.request]
  const read = readFirst(response, { waiting, timeout: 60_000 })
  const failed = expect(read).rejects.toThrow('no first part')
  waiting.push(joined.request)
  first.leave()
  joined.leave()
  expect(cancel).toHaveBeenCalled()
  await failed
})
