import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import {
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createWalletClient, http, publicActions } from 'viem'
import { type Candidates, compare, type Row } from './compare.js'
import { delayRequests } from './delayRequests.js'

const peer = '@x402/evm facilitator verify, warm'

/** One and the same payment, judged by both, on one node. */
export async function benchVerifyPayment(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  try {
    const near = await judge(chain, { url: chain.urls.http, rounds: 80 })
    const proxy = await delayRequests(chain.urls.http, 25)
    const far = await judge(chain, { url: proxy.url, rounds: 30 }).finally(
      proxy.stop,
    )
    return [
      { name: 'verifyPayment', peer, ratio: near, goal: 3, unit: 'time' },
      {
        name: 'verifyPayment, 25 ms added a request',
        peer,
        ratio: far,
        goal: 2.8,
        unit: 'time',
      },
    ]
  } finally {
    await chain.stop()
  }
}

async function judge(
  chain: DevChain,
  { url, rounds }: { url: string; rounds: number },
): Promise<number> {
  const payments: SignedPayment[] = []
  for (let count = 0; count < rounds + 3; count++)
    payments.push(await signTransfer(chain))
  const prepare = (): Candidates => {
    const payment = payments.pop()
    if (!payment) throw new Error('There are fewer payments than rounds.')
    return candidates(chain, url, payment)
  }
  const { x402 = Number.NaN } = await compare('countersign', {
    rounds,
    prepare,
  })
  return x402
}

async function signTransfer(chain: DevChain): Promise<SignedPayment> {
  const { payer, merchant, public: reader } = chain.clients
  const order = {
    token: chain.token,
    to: merchant.account.address,
    amount: '1.25',
  }
  const payment = await preparePayment(reader, {
    ...order,
    from: payer.account.address,
    primaryType: 'TransferWithAuthorization',
  })
  const { chainId } = payment.domain
  return signPayment(payer, {
    payment,
    expect: { ...order, chainId, primaryType: payment.primaryType },
  })
}

const clients = new Map<string, ReturnType<typeof createFacilitator>>()

function createFacilitator(chain: DevChain, url: string) {
  const { account } = chain.clients.relayer
  const client = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(url),
  }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({
    ...client,
    address: account.address,
  } as never)
  return { client, scheme: new ExactEvmScheme(signer) }
}

function candidates(
  chain: DevChain,
  url: string,
  payment: SignedPayment,
): Candidates {
  const facilitator = clients.get(url) ?? createFacilitator(chain, url)
  clients.set(url, facilitator)
  const { client, scheme } = facilitator
  const { domain, message, signature, primaryType } = payment
  const { to, value } = message
  const requirements = {
    scheme: 'exact',
    network: `eip155:${domain.chainId}` as const,
    asset: domain.verifyingContract,
    amount: value.toString(),
    payTo: to,
    maxTimeoutSeconds: 900,
    extra: { name: domain.name, version: domain.version },
  }
  const authorization = {
    ...message,
    value: value.toString(),
    validAfter: message.validAfter.toString(),
    validBefore: message.validBefore.toString(),
  }
  return {
    countersign: async () => {
      const verdict = await verifyPayment(client, {
        payment,
        expect: { token: chain.token, to, amount: '1.25', primaryType },
      })
      if (!verdict.ok) throw new Error(`Refused: ${verdict.reason}.`)
    },
    x402: async () => {
      const verdict = await scheme.verify(
        {
          x402Version: 2,
          accepted: requirements,
          payload: { authorization, signature },
        },
        requirements,
      )
      if (!verdict.isValid)
        throw new Error(`Refused: ${verdict.invalidReason}.`)
    },
  }
}
