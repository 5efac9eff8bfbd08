/** Writes until the disk is full and a while longer, and says how each went. */
import process from 'node:process'
import { sqliteStore } from 'countersign/sql'

const [file = ''] = process.argv.slice(2)
const store = sqliteStore({ file })
await store.open()

const ends: [string, string][] = []
const text = 'x'.repeat(20_000)
const write = async (key: string) => {
  const end = await store
    .write((it) => it.setValue(key, { key, text }))
    .then(() => 'kept')
    .catch((error) => `${error.name} ${error.retryable} ${error.message}`)
  ends.push([key, end])
}
for (let round = 0; round < 40; round++)
  await Promise.all([write(`${round} left`), write(`${round} right`)])
process.stdout.write(JSON.stringify(ends))
await store.close()
