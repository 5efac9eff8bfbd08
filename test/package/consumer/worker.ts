// What a worker takes that serves orders.
import { createPaymentHandler, type PaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore, sealer } from 'countersign/store'
import { createClient, http } from 'viem'
import { base } from 'viem/chains'

const account = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

let handler: PaymentHandler | undefined

export const worker = {
  /** Nothing random can be drawn before the first request. */
  fetch: (request: Request): Promise<Response> => {
    handler ??= openHandler()
    return handler(request)
  },
}

function openHandler(): PaymentHandler {
  const client = createReadClient({ url: 'http://127.0.0.1:9', chain: base })
  const orders = createOrders({
    store: memoryStore({ volatile: true }),
    seal: sealer({ keys: { 'key-1': new Uint8Array(32) }, current: 'key-1' }),
    tokens: [{ client, token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    wallets: [createClient({ account, chain: base, transport: http() })],
  })
  return createPaymentHandler(orders, { authorize: () => undefined })
}
