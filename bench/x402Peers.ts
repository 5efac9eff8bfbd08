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
  http,
  type PrivateKeyAccount,
  publicActions,
} from 'viem'
import { jsonRpc } from 'viem/nonce'

export type App = { fetch(request: Request): Response | Promise<Response> }

/** The stock middleware of x402 with its facilitator in the same process. */
export async function openStockApp(
  chain: DevChain,
  { url, account }: { url: string; account: PrivateKeyAccount },
): Promise<App> {
  const nonceManager = createNonceManager({ source: jsonRpc() })
  const client = createWalletClient({
    chain: chain.chain,
    transport: http(url),
    account: { ...account, nonceManager },
    // As fast as it makes sense beside blocks of 20 ms.
    pollingInterval: 20,
  }).extend(publicActions)
  const { address } = account
  const signer = toFacilitatorEvmSigner({ ...client, address } as never)
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
        'GET /work': {
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
  app.get('/work', (context) => context.text('done'))
  return app
}
