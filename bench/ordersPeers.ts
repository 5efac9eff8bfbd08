import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { buildPayment, captureCall, type SignedPayment } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  type Address,
  createNonceManager,
  createWalletClient,
  http,
  type PrivateKeyAccount,
  publicActions,
} from 'viem'
import { jsonRpc } from 'viem/nonce'
import { signWith } from './ordersShop.js'

type PeerParameters = {
  url: string
  /** Sends the transactions. */
  account: PrivateKeyAccount
  payments: readonly SignedPayment[]
}

/** Captures as one writes it with viem alone: one after another. */
export async function captureByHand(
  chain: DevChain,
  { payments, ...parameters }: PeerParameters,
): Promise<void> {
  const client = connect(chain, { ...parameters, pollingInterval: 10 })
  for (const payment of payments) {
    const hash = await client.writeContract(captureCall({ payment }))
    const { status } = await client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`The transaction ${status}.`)
  }
}

/** Settles all at once, as a busy facilitator does. */
export async function settleByX402(
  chain: DevChain,
  { url, account: { ...account }, payments }: PeerParameters,
): Promise<void> {
  const nonceManager = createNonceManager({ source: jsonRpc() })
  const client = connect(chain, {
    url,
    account: { ...account, nonceManager },
    pollingInterval: 50,
  })
  const { address } = account
  const signer = toFacilitatorEvmSigner({ ...client, address } as never)
  const scheme = new ExactEvmScheme(signer)
  await Promise.all(
    payments.map(async (payment) => {
      const { requirements, payload } = describe(payment)
      const settled = await scheme.settle(payload, requirements)
      // In the peer's favour: a pending one counts as settled.
      if (!settled.success && settled.errorReason !== 'settlement_pending')
        throw new Error(`Not settled: ${settled.errorReason}.`)
    }),
  )
}

function connect(
  { chain }: DevChain,
  {
    url,
    ...options
  }: { url: string; account: PrivateKeyAccount; pollingInterval: number },
) {
  const transport = http(url)
  return createWalletClient({ chain, transport, ...options }).extend(
    publicActions,
  )
}

function describe({ domain, message, signature }: SignedPayment) {
  const { name, version, chainId, verifyingContract: asset } = domain
  const requirements = {
    scheme: 'exact',
    network: `eip155:${chainId}` as const,
    asset,
    amount: message.value.toString(),
    payTo: message.to,
    maxTimeoutSeconds: 900,
    extra: { name, version },
  }
  const authorization = {
    ...message,
    value: message.value.toString(),
    validAfter: message.validAfter.toString(),
    validBefore: message.validBefore.toString(),
  }
  const payload = { authorization, signature }
  return {
    requirements,
    payload: { x402Version: 2, accepted: requirements, payload },
  }
}

/** Payments of one kind to one recipient, by several payers in turn. */
export function signFor(
  { chain, token }: DevChain,
  payers: readonly PrivateKeyAccount[],
  {
    count,
    ...order
  }: {
    to: Address
    count: number
    primaryType: SignedPayment['primaryType']
  },
): Promise<SignedPayment[]> {
  const name = 'USD Coin'
  const domain = { name, version: '2', chainId: chain.id }
  return Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const payer = payers[at % payers.length]
      if (!payer) throw new Error('There are no payers.')
      const payment = buildPayment({
        ...order,
        domain: { ...domain, verifyingContract: token },
        from: payer.address,
        amount: '1',
      })
      return signWith(payer, payment)
    }),
  )
}
