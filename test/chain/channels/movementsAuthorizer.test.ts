import { randomBytes } from 'node:crypto'
import { memoryStore, sealer } from 'countersign/store'
import { recoverAddress } from 'viem'
import { afterAll, expect, test } from 'vitest'
import {
  openAuthorizer,
  rotateAuthorizer,
} from '../../../src/channels/movements/authorizer.js'
import { balanceOf, chain } from '../support/channelDesk.js'
import { fundedAccount, newAccount, randomHash } from '../support/desk.js'
import {
  channelOf,
  openMovementShop,
  storeClaim,
  storeDeposit,
  until,
} from '../support/movementDesk.js'

afterAll(() => chain.stop())

test('processes that open the authorizer at once agree on one key', async () => {
  const store = memoryStore()
  const receiver = await fundedAccount(chain)
  const opened = await Promise.all(
    [1, 2, 3].map(() => openMovementShop({ store, receiver })),
  )
  const [first] = opened.map(({ authorizer }) => authorizer)
  if (!first) throw new Error('no authorizer')
  expect(new Set(opened.map(({ authorizer }) => authorizer.address)).size).toBe(
    1,
  )
  const hash = randomHash()
  const signature = await first.sign(first.address, hash)
  const signer = await recoverAddress({ hash, signature })
  expect(signer.toLowerCase()).toBe(first.address)
})

test('after a rotation new channels get the new key, and channels of the old one are claimed', async () => {
  const before = await openMovementShop()
  const old = await channelOf(before)
  await until(before, await storeDeposit(before, old, 2_000_000n), 'captured')
  const authorizer = await rotateAuthorizer(before.context)
  const shop = { ...before, authorizer }
  expect(authorizer.address).not.toBe(before.authorizer.address)
  expect(authorizer.addresses).toEqual([
    before.authorizer.address,
    authorizer.address,
  ])
  expect((await openAuthorizer(before.context)).address).toBe(
    authorizer.address,
  )
  const id = await storeClaim(shop, [{ channel: old, claimed: 2_000_000n }])
  await until(shop, id, 'captured')
  expect(await balanceOf(shop.receiver.address)).toBe(2_000_000n)
})

const sealing = (names: Record<string, Uint8Array>, current: string) => ({
  changes: { seal: sealer({ keys: names, current }) },
})

test('a key that is unknown or does not open is named by its address, and never shown', async () => {
  const store = memoryStore()
  const receiver = await fundedAccount(chain)
  const one = randomBytes(32)
  const given = { store, receiver, ...sealing({ one }, 'one') }
  const { authorizer } = await openMovementShop(given)
  const { address } = authorizer
  await expect(
    authorizer.sign(newAccount().address, randomHash()),
  ).rejects.toMatchObject({
    name: 'AuthorizerKeyError',
    details: { problem: 'is not in the store' },
  })
  const forgotten = { ...given, ...sealing({ one: randomBytes(32) }, 'one') }
  const shop = await openMovementShop(forgotten)
  await expect(
    shop.authorizer.sign(address, randomHash()),
  ).rejects.toMatchObject({
    name: 'AuthorizerKeyError',
    message: `The key of the authorizer ${address} does not open with the keys of the sealer.`,
  })
})

test('a key sealed with an older key of the sealer is sealed again, and signs after that one is gone', async () => {
  const store = memoryStore()
  const receiver = await fundedAccount(chain)
  const [one, two] = [randomBytes(32), randomBytes(32)]
  const open = (keys: Record<string, Uint8Array>, current: string) =>
    openMovementShop({ store, receiver, ...sealing(keys, current) })
  const { address } = (await open({ one }, 'one')).authorizer
  await open({ one, two }, 'two')
  const { authorizer } = await open({ two }, 'two')
  expect(authorizer.address).toBe(address)
  const hash = randomHash()
  const signature = await authorizer.sign(address, hash)
  const signer = await recoverAddress({ hash, signature })
  expect(signer.toLowerCase()).toBe(address)
})
