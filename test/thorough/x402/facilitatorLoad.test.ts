import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { memoryStore, type PaymentStore } from 'countersign/store'
import type { Hash } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../chain/support/desk.js'
import {
  openFacilitator,
  transfersTo,
} from '../../chain/support/facilitatorShop.js'
import {
  price,
  sign402,
  startFacilitatorChain,
} from '../../chain/support/stockFacilitator.js'

const chain = await startFacilitatorChain()
const folder = mkdtempSync(join(tmpdir(), 'countersign-x402-'))
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true, force: true })
})

const stores: Readonly<Record<string, () => PaymentStore>> = {
  memory: () => memoryStore({ volatile: true }),
  SQLite: () => sqliteStore({ file: join(folder, 'load.db') }),
}

test.each([
  ['memory', 20],
  ['memory', 200],
  ['SQLite', 200],
] as const)(
  'with %s, %i settlements at once on one account all succeed, without a gap',
  async (engine, count) => {
    const shop = await openFacilitator(chain, {
      // How fast the machine is decides nothing.
      facilitator: { timeout: 500_000 },
      orders: { store: stores[engine]?.() ?? memoryStore() },
      callers: { one: { name: 'one', gasPerDay: 10n ** 9n } },
    })
    const payers = await Promise.all(
      Array.from({ length: 10 }, () =>
        fundedAccount(chain, price * BigInt(count)),
      ),
    )
    const sent = await Promise.all(
      payers.flatMap((payer) =>
        Array.from({ length: count / 10 }, () =>
          sign402(chain, payer, shop.seller),
        ),
      ),
    )
    const answers = await Promise.all(sent.map((one) => shop.settle(one)))

    expect(answers.filter(({ success }) => !success)).toEqual([])
    const hashes = new Set(
      answers.map(({ transaction }) => transaction as Hash),
    )
    expect(hashes.size).toBe(count)
    const { public: client } = chain.clients
    const nonces = await Promise.all(
      [...hashes].map(
        async (hash) => (await client.getTransaction({ hash })).nonce,
      ),
    )
    expect(nonces.sort((one, other) => one - other)).toEqual(
      Array.from({ length: count }, (_, nonce) => nonce),
    )
    expect(await transfersTo(chain, shop.seller)).toBe(count)
    await shop.orders.close()
  },
)
