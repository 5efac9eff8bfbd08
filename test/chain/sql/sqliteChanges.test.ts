import { rmSync } from 'node:fs'
import { sqliteStore } from 'countersign/sql'
import { expect, test } from 'vitest'
import { drawDestination, sampleEvent } from '../../storeCases/samples.js'
import { eventually } from '../../unit/support/webhooksRun.js'
import { sqliteFile } from '../support/chaos.js'
import { watchStatements } from '../support/watchStatements.js'

/** Two stores over one file, and how often the first heard of a change. */
async function openTwo() {
  const { file, store } = sqliteFile()
  await store.open()
  const other = sqliteStore({ file })
  await other.open()
  const heard = { times: 0, appended: 0 }
  const stop = store.onChange?.(() => {
    heard.times++
  })
  if (!stop) throw new Error('a store that tells no changes')
  const append = async (to: typeof store) => {
    heard.appended++
    await to.write(({ events }) =>
      events.append([sampleEvent(drawDestination())]),
    )
  }
  const end = async () => {
    stop()
    await Promise.all([store.close(), other.close()])
    rmSync(file)
  }
  return { store, other, heard, stop, append, end }
}

test('a store hears of the events that it writes itself, and of those of others', async () => {
  const { store, other, heard, append, end } = await openTwo()
  for (const writer of [store, other]) {
    const before = heard.times
    // The first question only learns how many events there are.
    await eventually(async () => {
      await append(writer)
      return heard.times
    }).toBeGreaterThan(before)
  }
  await end()
})

test('leases and settings are no changes, so that nobody wakes himself', async () => {
  const { store, other, heard, append, end } = await openTwo()
  await eventually(async () => {
    await append(other)
    return heard.times
  }).toBeGreaterThan(0)
  for (let at = 0; at < 5; at++) {
    await other.takeLease({ key: 'one', owner: 'other', milliseconds: 1000 })
    await store.write((tables) => tables.setValue('place', { at }))
    await new Promise((resolve) => setTimeout(resolve, 120))
  }
  expect(heard.times).toBeLessThanOrEqual(heard.appended)
  await end()
})

test('a store tells its own events at once, with the lease under which they were written', async () => {
  const { store, append, end } = await openTwo()
  const heard: unknown[] = []
  const stop = store.onChange?.((by) => {
    heard.push(by)
  })
  const wanted = { key: 'watch', owner: 'one', milliseconds: 1000 }
  const lease = await store.takeLease(wanted)
  await store.write(
    ({ events }) => events.append([sampleEvent(drawDestination())]),
    { lease },
  )
  await append(store)
  expect(heard).toEqual(['watch', undefined])
  stop?.()
  await end()
})

test('what a store commits itself makes it ask the file nothing', async () => {
  const ran: string[] = []
  const forget = watchStatements((text) => {
    if (text !== 'pragma data_version') ran.push(text)
  })
  const { store, append, end } = await openTwo()
  await new Promise((resolve) => setTimeout(resolve, 250))
  await append(store)
  await store.takeLease({ key: 'one', owner: 'own', milliseconds: 1000 })
  const own = ran.length
  await new Promise((resolve) => setTimeout(resolve, 250))
  expect(ran.slice(own)).toEqual([])
  forget()
  await end()
})

test('a listener that was unregistered hears nothing more, and keeps no process', async () => {
  const { store, other, heard, stop, append, end } = await openTwo()
  await eventually(async () => {
    await append(other)
    return heard.times
  }).toBeGreaterThan(0)
  stop()
  const before = heard.times
  await append(store)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(heard.times).toBe(before)
  await end()
})
