import { toClientEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { loadAccelerator } from 'countersign/accelerate'
import { channels, createChannels } from 'countersign/channels'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { createX402Gate } from 'countersign/x402'
import { formatUnits } from 'viem'
import { getTransactionCount, readContract } from 'viem/actions'
import { serveApp } from './server.js'

/**
 * A stock x402 client buys many small answers over one channel, and the seller
 * claims them in one transaction. Prints what moved and what it cost.
 */
export async function meterRequests(requests: number): Promise<void> {
  const chain = await startDevChain({ blockTime: 1, channels: true })
  try {
    await meterOn(chain, requests)
  } finally {
    await chain.stop()
  }
}

async function meterOn(chain: DevChain, requests: number): Promise<void> {
  const { merchant } = chain.clients
  const client = createReadClient({ chain: chain.chain, url: chain.urls.http })
  const { keccak256, recoverAddress } = await loadAccelerator()
  const orders = createOrders({
    // In production a database: postgresStore or sqliteStore.
    store: memoryStore({ volatile: true }),
    seal: 'none',
    tokens: [{ client, token: chain.token }],
    wallets: [merchant],
    kinds: [channels()],
    keccak256,
  })
  const kept = createChannels({ orders, recoverAddress })
  const gate = createX402Gate({
    orders,
    channels: kept,
    offers: { words: { atMost: '0.01', flow: 'channel', deposit: '10' } },
  })
  const answer = gate.protect('words', async (request, payment) => {
    // A request costs 0.0004 for each word that it asks for.
    const words = Number(new URL(request.url).searchParams.get('words') ?? 1)
    payment.charge?.(formatUnits(400n * BigInt(words), 6))
    return Response.json({ words: 'so '.repeat(words).trim() })
  })
  const server = await serveApp({ fetch: (request) => answer(request) })
  const sent = () => getTransactionCount(client, merchant.account)
  try {
    const before = await sent()
    const buy = createMeteredBuyer(chain)
    const began = performance.now()
    for (let count = 0; count < requests; count++) {
      const answered = await buy(`${server.url}/?words=${1 + (count % 9)}`)
      if (!answered.ok) throw new Error(`answer ${answered.status}`)
      await answered.arrayBuffer()
    }
    const seconds = (performance.now() - began) / 1000
    const [channel] = (await kept.list()).channels
    console.log(
      `${requests} answers in ${seconds.toFixed(1)} s, ${usdc(channel?.charged)} in all, out of a deposit of ${usdc(channel?.balance)}.`,
    )
    await kept.claim()
    if (channel) await kept.refund({ channelId: channel.channelId })
    const [settled] = (await kept.list()).channels
    console.log(
      `Claimed ${usdc(settled?.claimed)}, and gave the rest back: ${(await sent()) - before} transactions in all.`,
    )
  } finally {
    await server.stop()
    await orders.close()
  }
}

const usdc = (value = 0n) => `${formatUnits(value, 6)} USDC`

/** `fetch` that pays over channels, with the packages of x402 alone. */
function createMeteredBuyer({ clients }: DevChain): typeof fetch {
  const { payer, public: reader } = clients
  const signer = toClientEvmSigner(payer.account, {
    readContract: (given) => readContract(reader, given as never),
  })
  const client = x402Client.fromConfig({
    schemes: [
      { network: 'eip155:*', client: new BatchSettlementEvmScheme(signer) },
    ],
    // Stock clients know real USDC only: this one is of the local chain.
    spendControls: { allowedAssets: true },
  })
  return wrapFetchWithPayment(fetch, client)
}
