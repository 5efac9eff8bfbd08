import process from 'node:process'
import { createOrders } from 'countersign/orders'
import { createPaywall } from 'countersign/pages'
import { memoryStore } from 'countersign/store'
import { createX402Gate, nextPayment } from 'countersign/x402'
import { notFound, redirect } from 'next/navigation.js'
import type { NextRequest } from 'next/server.js'
import { type Address, createClient, defineChain, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** A route of a Next.js server that sells its answers; bundled into its app. */

const {
  CHAIN_URL: url = '',
  TOKEN: token = '0x',
  MERCHANT_KEY: key = '0x',
} = process.env

const chain = defineChain({
  id: 31_337,
  name: 'dev',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [url] } },
})
const wallet = createClient({
  account: privateKeyToAccount(key as Hex),
  chain,
  transport: http(url),
})
const orders = createOrders({
  store: memoryStore(),
  seal: 'none',
  tokens: [{ client: wallet, token: token as Address }],
  wallets: [wallet],
})
const gate = createX402Gate({
  orders,
  offers: { weather: { amount: '0.01' } },
  paywall: createPaywall({ name: 'Weather' }),
})

let runs = 0

type City = { params: Promise<{ city: string }> }

export const GET = nextPayment(
  gate,
  'weather',
  async (request: NextRequest, { params }: City, { payer }) => {
    const { city } = await params
    if (city === 'atlantis') notFound()
    if (city === 'bonn') redirect('/weather/berlin')
    return Response.json({
      city,
      day: request.nextUrl.searchParams.get('day'),
      payer,
      runs: ++runs,
    })
  },
)
