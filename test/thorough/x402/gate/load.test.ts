import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import { getTransactionCount } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../../chain/support/desk.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  settlementOf,
  signFor,
} from '../../../chain/support/x402Desk.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-load-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each([20, 200])(
  '%d paid requests at once on one account are all settled, without a gap',
  async (count) => {
    const store = sqliteStore({ file: join(folder, `${count}.db`) })
    const shop = await openGateShop({ mostOpen: 100 }, { store })
    let runs = 0
    const sold = shop.gate.protect('work', () => {
      runs++
      return new Response('done')
    })
    const address = 'https://shop.example/work'
    const perPayer = count / 10
    const payers = await Promise.all(
      Array.from({ length: 10 }, () =>
        fundedAccount(chain, BigInt(perPayer) * price),
      ),
    )
    const asked = await sold(new Request(address))
    const headers = await Promise.all(
      payers.flatMap((payer) =>
        Array.from({ length: perPayer }, () => signFor(payer, asked)),
      ),
    )
    const responses = await Promise.all(
      headers.map((header) =>
        sold(
          new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
        ),
      ),
    )
    expect(responses.map(({ status }) => status)).toEqual(
      Array(count).fill(200),
    )
    // Payments that are due together share transactions.
    const hashes = responses.map((one) => settlementOf(one).transaction)
    const sent = new Set(hashes).size
    expect(sent).toBeLessThanOrEqual(count)
    expect(runs).toBe(count)
    expect(await balanceOf(shop.recipient)).toBe(BigInt(count) * price)
    const [latest, pending] = await Promise.all(
      (['latest', 'pending'] as const).map((blockTag) =>
        getTransactionCount(chain.clients.public, {
          address: shop.recipient,
          blockTag,
        }),
      ),
    )
    expect([latest, pending]).toEqual([sent, sent])
    await shop.orders.close()
  },
)
