import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { afterAll, expect, test } from 'vitest'
import { drawDestination, sampleEvent } from '../../storeCases/samples.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-events-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('one unit of work appends more events than the stack holds', async () => {
  const destination = drawDestination()
  const many = 150_000
  const event = sampleEvent(destination)
  const store = sqliteStore({ file: join(folder, 'events.db') })
  await store.write((it) =>
    it.events.append(Array.from({ length: many }, () => event)),
  )
  const [last] = await store.read((it) =>
    it.events.find({ newest: [destination] }),
  )
  expect(last?.cursor).toBe(BigInt(many))
  await store.close()
})
