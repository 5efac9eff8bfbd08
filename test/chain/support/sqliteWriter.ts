/** Writes to a store as a process of its own: `file rounds [hang]`. */
import process from 'node:process'
import { sqliteStore } from 'countersign/sql'
import { sampleEvent, sampleOrder } from '../../storeCases/samples.js'

const [file = '', rounds = '0', hang] = process.argv.slice(2)
const destination = {
  chainId: 1,
  token: `0x${'1'.repeat(40)}`,
  recipient: `0x${'2'.repeat(40)}`,
} as const
const store = sqliteStore({ file })

for (let round = 0; round < Number(rounds); round++)
  await store.write(async (it) => {
    const { count = 0 } = (await it.getValue('rounds')) ?? {}
    await it.orders.insert([sampleOrder(destination)])
    await it.events.append([sampleEvent(destination), sampleEvent(destination)])
    await it.setValue('rounds', { count: Number(count) + 1 })
    if (hang === undefined) return
    process.stdout.write('written')
    await new Promise((resolve) => setTimeout(resolve, 60_000))
  })
await store.close()
