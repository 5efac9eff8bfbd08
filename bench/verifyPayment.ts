import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import {
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
  verifyPayments,
} from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createWalletClient, http, publicActions } from 'viem'
import { type Candidates, compare, compareTimes, type Row } from './compare.js'
import { delayRequests } from './delayRequests.js'
import { sized } from './sized.js'

const peer = '@x402/evm facilitator verify, warm'

/** One and the same payment, judged by both, on one node. */
export async function benchVerifyPayment(): Promise<Row[]> {
  const chain = await startDevChain({ blockTime: 0 })
  try {
    const near = await judge(chain, {
      url: chain.urls.http,
      rounds: sized(80, 1),
    })
    const proxy = await delayRequests(chain.urls.http, 25)
    const far = await judge(chain, {
      url: proxy.url,
      rounds: sized(30, 1),
    }).finally(proxy.stop)
    const manyNear = await judgeMany(chain, chain.urls.http)
    const distant = await delayRequests(chain.urls.http, 25)
    const manyFar = await judgeMany(chain, distant.url).finally(distant.stop)
    return [
      {
        name: '100 verdicts by verifyPayments',
        peer,
        ratio: manyNear,
        goal: 15,
        unit: 'time',
      },
      {
        name: '100 verdicts by verifyPayments, +25 ms',
        peer,
        ratio: manyFar,
        goal: 10,
        unit: 'time',
      },
      { name: 'verifyPayment', peer, goal: 3, unit: 'time', ...near },
      {
        name: 'verifyPayment, 25 ms added a request',
        peer,
        goal: 2.8,
        unit: 'time',
        ...far,
      },
    ]
  } finally {
    await chain.stop()
  }
}

async function judge(
  chain: DevChain,
  { url, rounds }: { url: string; rounds: number },
): Promise<Pick<Row, 'ratio' | 'sides'>> {
  const payments: SignedPayment[] = []
  for (let count = 0; count < rounds + 3; count++)
    payments.push(await signTransfer(chain))
  const prepare = (): Candidates => {
    const payment = payments.pop()
    if (!payment) throw new Error('There are fewer payments than rounds.')
    return candidates(chain, url, payment)
  }
  const { ratios, milliseconds } = await compareTimes('countersign', {
    rounds,
    prepare,
  })
  const { countersign: own = Number.NaN, x402 = Number.NaN } = milliseconds
  return {
    ratio: ratios.x402 ?? Number.NaN,
    sides: { own, peer: x402, unit: 'ms' },
  }
}

const many = sized(100, 5)

/** 100 payments: in one list, and by x402 all at once. */
async function judgeMany(chain: DevChain, url: string): Promise<number> {
  const payments: SignedPayment[] = []
  for (let count = 0; count < many; count++)
    payments.push(await signTransfer(chain))
  const { client } = facilitatorOf(chain, url)
  const peers = payments.map((payment) => candidates(chain, url, payment).x402)
  const expect = {
    token: chain.token,
    to: chain.clients.merchant.account.address,
    amount: '1.25',
    primaryType: 'TransferWithAuthorization',
  } as const
  const { x402 = Number.NaN } = await compare('countersign', {
    rounds: 9,
    prepare: () => ({
      countersign: async () => {
        const verdicts = await verifyPayments(client, {
          payments: payments.map((payment) => ({ payment, expect })),
        })
        const bad = verdicts.find(({ ok }) => !ok)
        if (bad) throw new Error('One was refused.')
      },
      x402: async (time) => {
        await Promise.all(peers.map((verify) => verify?.(time)))
      },
    }),
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

function facilitatorOf(chain: DevChain, url: string) {
  const facilitator = clients.get(url) ?? createFacilitator(chain, url)
  clients.set(url, facilitator)
  return facilitator
}

function candidates(
  chain: DevChain,
  url: string,
  payment: SignedPayment,
): Candidates {
  const { client, scheme } = facilitatorOf(chain, url)
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
