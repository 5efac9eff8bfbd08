import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import type { PrivateKeyAccount } from 'viem'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ChannelShop,
  deposit,
  most,
  openChannelShop,
  stockChannel,
} from '../../support/channelShop.js'
import { fundedAccount } from '../../support/desk.js'
import { balanceOf, chain } from '../../support/x402Desk.js'

/** A shop on a file that can go back to what was in it. */
async function openFile(): Promise<{
  open: () => Promise<ChannelShop>
  backUp: () => void
  /** Puts the backup in place, and opens it as the guide to backups says. */
  restore: () => Promise<ChannelShop>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-restored-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const sellers = [await fundedAccount(chain)]
  const place = (name: string) => join(folder, name)
  let identity: string | undefined
  const openFrom = async (takeOverFrom?: string) => {
    const store = sqliteStore({ file: place('shop.db') })
    onTestFinished(() => store.close())
    identity = (await store.open()).identity
    const handler = () => Response.json({})
    return openChannelShop(handler, { store, sellers, takeOverFrom })
  }
  return {
    open: () => openFrom(),
    backUp: () => cpSync(place('shop.db'), place('backup.db')),
    restore: async () => {
      for (const end of ['', '-wal', '-shm'])
        rmSync(place(`shop.db${end}`), { force: true })
      cpSync(place('backup.db'), place('shop.db'))
      const shop = await openFrom(identity)
      expect(await shop.orders.health()).toMatchObject({ suspended: true })
      await shop.orders.reconcile()
      await shop.orders.resume()
      return shop
    },
  }
}

/** A buyer who asks for paths, whatever address the shop has now. */
function openBuyer(account: PrivateKeyAccount) {
  const client = stockChannel(account)
  return async ({ url }: ChannelShop, paths: string) => {
    const statuses: number[] = []
    for (const path of paths)
      statuses.push((await client.fetch(`${url}/${path}`)).status)
    return statuses
  }
}

async function onlyChannel({ channels }: ChannelShop) {
  const [channel, ...others] = (await channels.list()).channels
  if (!channel || others.length > 0) throw new Error('not one channel')
  return channel
}

test.each([
  ['the client knows what it signed', false],
  ['the client lost its state, too', true],
])(
  'after a restored backup only the charges since are lost, when %s',
  async (_, isForgetful) => {
    const file = await openFile()
    const account = await fundedAccount(chain, deposit)
    const first = await file.open()
    const pay = openBuyer(account)
    expect(await pay(first, 'abc')).toEqual([200, 200, 200])
    await first.orders.close()
    file.backUp()
    const second = await file.open()
    expect(await pay(second, 'de')).toEqual([200, 200])
    await second.orders.close()

    const restored = await file.restore()
    const payAgain = isForgetful ? openBuyer(account) : pay
    expect(await payAgain(restored, 'fg')).toEqual([200, 200])
    expect(await onlyChannel(restored)).toMatchObject({
      state: 'open',
      charged: 5n * most,
      balance: deposit,
    })
    expect(await restored.channels.claim()).toMatchObject({ claimed: 1 })
    expect(await balanceOf(restored.seller)).toBe(5n * most)
    expect(await balanceOf(account.address)).toBe(0n)
    expect(await payAgain(restored, 'h')).toEqual([200])
  },
)

test('what was claimed after a backup is not charged again, nor lost, when it is restored', async () => {
  const file = await openFile()
  const account = await fundedAccount(chain, deposit)
  const pay = openBuyer(account)
  const first = await file.open()
  await pay(first, 'ab')
  await first.orders.close()
  file.backUp()
  const second = await file.open()
  await pay(second, 'cd')
  await second.channels.claim()
  await second.orders.close()

  const restored = await file.restore()
  expect(await pay(restored, 'ef')).toEqual([200, 200])
  expect(await onlyChannel(restored)).toMatchObject({
    charged: 6n * most,
    claimed: 4n * most,
  })
  await restored.channels.claim()
  expect(await balanceOf(restored.seller)).toBe(6n * most)
})

test('a deposit and a refund that a restored backup does not know are on the channel all the same', async () => {
  const file = await openFile()
  const account = await fundedAccount(chain, deposit)
  const pay = openBuyer(account)
  const empty = await file.open()
  // The key that signs claims is made with the first offer.
  await fetch(empty.url)
  await empty.orders.close()
  file.backUp()
  const first = await file.open()
  expect(await pay(first, 'ab')).toEqual([200, 200])
  const { channelId } = await onlyChannel(first)
  const refunded = await first.channels.refund({ channelId, value: most })
  expect(refunded.status).toBe('refunded')
  await first.orders.close()

  const restored = await file.restore()
  expect(await pay(restored, 'cd')).toEqual([200, 200])
  expect(await onlyChannel(restored)).toMatchObject({
    state: 'open',
    balance: deposit - most,
    charged: 4n * most,
  })
  await restored.channels.claim()
  expect(await balanceOf(restored.seller)).toBe(4n * most)
  const rest = await restored.channels.refund({ channelId })
  expect(rest).toMatchObject({ status: 'refunded' })
  expect(await balanceOf(account.address)).toBe(deposit - 4n * most)
})
