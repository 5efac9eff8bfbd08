import { setTimeout as wait } from 'node:timers/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import { x402ResourceServer } from '@x402/core/server'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware } from '@x402/hono'
import type { DevChain } from 'countersign/devchain'
import { Hono } from 'hono'
import {
  createNonceManager,
  createWalletClient,
  type Hash,
  http,
  type PrivateKeyAccount,
  publicActions,
  TransactionReceiptNotFoundError,
} from 'viem'
import { jsonRpc } from 'viem/nonce'

/** Milliseconds: as fast as it makes sense beside blocks of 20 ms. */
const pollingInterval = 20

export type App = { fetch(request: Request): Response | Promise<Response> }

/**
 * The same with the packages of x402 alone: its middleware, with its facilitator
 * in the same process.
 */
export async function createStockApp(
  chain: Pick<DevChain, 'chain' | 'token'>,
  {
    url,
    account,
    isTicking = false,
  }: {
    url: string
    account: PrivateKeyAccount
    /**
     * True to poll for the receipt itself. viem's wait looks again only at a new
     * block number, so it would miss every receipt before its block.
     */
    isTicking?: boolean | undefined
  },
): Promise<App> {
  const nonceManager = createNonceManager({ source: jsonRpc() })
  const client = createWalletClient({
    chain: chain.chain,
    transport: http(url),
    account: { ...account, nonceManager },
    pollingInterval,
  }).extend(publicActions)
  const { address } = account
  const waitForTransactionReceipt = isTicking
    ? ({ hash }: { hash: Hash }) => pollReceipt(client, hash)
    : client.waitForTransactionReceipt
  const signer = toFacilitatorEvmSigner({
    ...client,
    address,
    waitForTransactionReceipt,
  } as never)
  const network = `eip155:${chain.chain.id}` as const
  const facilitator = new x402Facilitator().register(
    network,
    new ExactFacilitator(signer),
  )
  const server = new x402ResourceServer({
    verify: (payload, requirements) =>
      facilitator.verify(payload, requirements),
    settle: (payload, requirements) =>
      facilitator.settle(payload, requirements),
    getSupported: async () => facilitator.getSupported() as never,
  }).register(network, new ExactServer())
  const app = new Hono()
  app.use(
    paymentMiddleware(
      {
        'GET /weather': {
          accepts: {
            scheme: 'exact',
            network,
            payTo: address,
            price: {
              asset: chain.token,
              amount: '10000',
              extra: { name: 'USD Coin', version: '2' },
            },
          },
        },
      },
      server,
    ),
  )
  app.get('/weather', (context) =>
    context.json({ city: context.req.query('city'), sky: 'clear' }),
  )
  return app
}

type ReceiptClient = {
  getTransactionReceipt(parameters: { hash: Hash }): Promise<unknown>
}

async function pollReceipt(
  client: ReceiptClient,
  hash: Hash,
): Promise<unknown> {
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
    }
    await wait(pollingInterval)
  }
}
