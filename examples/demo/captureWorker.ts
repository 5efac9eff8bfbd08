import process from 'node:process'
import { createWalletClient, custom, http, type Transport } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { CaptureJob } from './runCapture.js'
import { takeOrders } from './takeOrders.js'

process.once('message', capture)
// Nobody is left to work for.
process.once('disconnect', () => process.exit())

async function capture({ place, orderId, dies }: CaptureJob): Promise<void> {
  const merchant = createWalletClient({
    account: privateKeyToAccount(place.merchantKey),
    chain: place.chain,
    transport: dies ? dyingTransport(place.url) : http(place.url),
  })
  const orders = takeOrders(place, merchant)
  const { order } = await orders.capture({ orderId })
  process.send?.({ hash: order.capture?.transactionHash })
  await orders.close()
  process.disconnect?.()
}

/** Lets the node take a transaction, and the process not hear of it. */
function dyingTransport(url: string): Transport {
  const node = http(url)({})
  return custom({
    async request(call: Parameters<typeof node.request>[0]) {
      const answer = await node.request(call)
      if (call.method !== 'eth_sendRawTransaction') return answer
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => undefined)
    },
  })
}
