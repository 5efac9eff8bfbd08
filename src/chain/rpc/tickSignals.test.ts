import process from 'node:process'
import { expect, test, vi } from 'vitest'
import { tickSignals } from './tickSignals.js'

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

test('what is asked in one tick has one signal, and what comes later another', async () => {
  const ofTick = tickSignals(new AbortController().signal, 1000)
  const [first, second] = [ofTick(), ofTick()]
  expect(second.signal).toBe(first.signal)
  await turn()
  const third = ofTick()
  expect(third.signal).not.toBe(first.signal)
  for (const { leave } of [first, second, third]) leave()
})

test('what is asked late in a busy time has as long as the rest', async () => {
  const ofTick = tickSignals(new AbortController().signal, 100)
  const early = ofTick()
  await new Promise((resolve) => setTimeout(resolve, 60))
  const late = ofTick()
  await vi.waitFor(() => expect(early.signal.aborted).toBe(true), 60_000)
  expect(late.signal.aborted).toBe(false)
  expect(early.signal.reason).toMatchObject({ message: 'no answer in 100 ms' })
  for (const { leave } of [early, late]) leave()
})

test('what is answered leaves no timer, in its own tick or after', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const ofTick = tickSignals(new AbortController().signal, 1000)
  ofTick().leave()
  const { leave } = ofTick()
  await new Promise((resolve) => setImmediate(resolve))
  expect(vi.getTimerCount()).toBe(1)
  leave()
  expect(vi.getTimerCount()).toBe(0)
  ofTick().leave()
  await new Promise((resolve) => setImmediate(resolve))
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

test('all of it ends with the signal of the work', () => {
  const end = new AbortController()
  const { signal } = tickSignals(end.signal)()
  end.abort()
  expect(signal.aborted).toBe(true)
})

test('as many requests as a tick has listen to its signal, and Node warns of none', async () => {
  const warnings: string[] = []
  const onWarning = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', onWarning)
  const { signal } = tickSignals(new AbortController().signal)()
  for (let request = 0; request < 500; request += 1)
    signal.addEventListener('abort', () => undefined)
  await new Promise(setImmediate)
  process.off('warning', onWarning)

  expect(warnings).toEqual([])
})
