import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import {
  createSubscriptions,
  spendPermissions,
} from 'countersign/subscriptions'
import { type Account, type Address, createClient, custom } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { expect, test } from 'vitest'

const transport = custom({
  request: async () => {
    throw new Error('not asked')
  },
})
const { address } = privateKeyToAccount(generatePrivateKey())

/** Drafts a subscription that pays `recipient`, with one wallet. */
function draft(account: Account | Address, recipient: Address) {
  const orders = createOrders({
    store: memoryStore(),
    seal: 'none',
    tokens: [
      {
        client: createClient({ chain: base, transport }),
        token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      },
    ],
    wallets: [createClient({ account, chain: base, transport })],
    recipients: [recipient],
    kinds: [spendPermissions()],
  })
  return createSubscriptions({ orders }).draft({
    account: '0x00000000000000000000000000000000000000a1',
    amount: '9.99',
    period: 100n,
    recipient,
  })
}

test('a recipient whose wallet sends by itself is refused by name', async () => {
  await expect(draft(address, address)).rejects.toMatchObject({
    name: 'OrdersSetupError',
    message: `Orders cannot charge with the wallet of ${address.toLowerCase()}, which sends by itself: use a local account.`,
  })
})

test('a recipient without a wallet is refused as such', async () => {
  const relayer = privateKeyToAccount(generatePrivateKey())
  await expect(draft(relayer, address)).rejects.toMatchObject({
    name: 'InvalidFieldError',
    details: {
      field: 'recipient',
      expected: 'the account of a wallet of these orders',
    },
  })
})
