// As a bundler takes the package: with the zod of the project.
import { deepEqual } from 'node:assert/strict'
import { createPaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import { memoryStore } from 'countersign/store'
import { createClient, http } from 'viem'
import { base } from 'viem/chains'

const client = createClient({
  account: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  chain: base,
  transport: http('http://127.0.0.1:9'),
})
const orders = createOrders({
  store: memoryStore({ volatile: true }),
  seal: 'none',
  tokens: [{ client, token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
  wallets: [client],
})
let told: unknown
try {
  createPaymentHandler(orders, { authorize: () => undefined })
} catch (error) {
  told = error
}
deepEqual(
  String(told),
  'ZodVersionError: createPaymentHandler needs zod 4.0.0 or later, and zod 3 or older is installed: run npm install zod@4.',
)
