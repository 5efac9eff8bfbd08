import { loadAccelerator } from 'countersign/accelerate'
import { startDevChain } from 'countersign/devchain'
import { bytesToHex } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, expect, test, vi } from 'vitest'
import { openShop, storedOrder } from '../support/shop.js'

const { fastAccount, keccak256 } = await loadAccelerator()
const chain = await startDevChain()
afterAll(() => chain.stop())

test('an accelerated account captures an order, and the given function hashes its signature, its token and its transaction', async () => {
  const seller = fastAccount(generatePrivateKey())
  const { address } = seller
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  const counting = vi.fn(keccak256)
  const shop = await openShop(chain, {
    sellers: [seller],
    policy: { pollingInterval: 20 },
    keccak256: counting,
  })
  const { orders } = shop
  const { id, signed } = await storedOrder(chain, shop)
  const hashed = () => counting.mock.calls.map(([bytes]) => bytesToHex(bytes))
  // The recipients watched, the buyer's token, and the signature with its window.
  expect(hashed()).toHaveLength(4)
  expect(hashed().at(-1)).toContain(signed.signature)

  const result = await orders.capture({ orderId: id })
  expect(result).toMatchObject({ status: 'captured' })
  const raw = hashed().at(-1)
  expect(raw).toContain(signed.message.nonce.slice(2))
  expect(raw).toMatch(/^0x02/)
  await orders.close()
})
