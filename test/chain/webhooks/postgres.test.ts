import type { PaymentStore } from 'countersign/store'
import { afterAll, onTestFinished, test } from 'vitest'
import { leaseCases } from '../../unit/support/webhooksLeaseCases.js'
import { startDatabase } from '../support/database.js'
import { storeAt } from '../support/webhooksPlace.js'

const database = await startDatabase()
afterAll(() => database.stop())

/** Connections to one new database. */
async function openDatabase(name: string): Promise<() => PaymentStore> {
  const place = await database.create(name)
  const stores: PaymentStore[] = []
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()))
  })
  return () => {
    const store = storeAt(place)
    stores.push(store)
    return store
  }
}

for (const [index, { name, run }] of leaseCases.entries())
  test(`${name}, in PostgreSQL`, async () =>
    run(await openDatabase(`leases${index}`)))
