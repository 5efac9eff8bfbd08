// What a user's project compiles against the packed package, strictly.
import {
  buildPayment,
  CountersignError,
  capturePayment,
  decodePayment,
  type Payment,
  type PaymentOutcome,
  type PaymentVerdict,
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import {
  createReadClient,
  decodeTokenLog,
  getLogs,
  type LogEvent,
  type ReadLog,
} from 'countersign/reads'
import { samplePayment } from 'countersign/testing'
import { createPublicClient, createWalletClient, http } from 'viem'
import { base } from 'viem/chains'

const reader = createPublicClient({ chain: base, transport: http() })
const wallet = createWalletClient({ chain: base, transport: http() })

export async function pay(json: string): Promise<SignedPayment> {
  const { token, to, amount } = order
  const expect = { chainId: base.id, token, to, amount }
  return signPayment(wallet, { payment: decodePayment(json), expect })
}

export async function settle(payment: SignedPayment): Promise<string> {
  const verdict: PaymentVerdict = await verifyPayment(reader, {
    payment,
    expect: order,
  })
  if (!verdict.ok) return verdict.reason
  const hash = await capturePayment(wallet, { payment })
  const outcome = await waitForOutcome(reader, { payment, hash })
  return outcome.status === 'captured' ? outcome.proof.finality : said(outcome)
}

export const draft = (from: DevChain['token']): Promise<Payment> =>
  preparePayment(reader, { ...order, from })

export async function rehearse(): Promise<DevChain> {
  const chain = await startDevChain({ network: 'base', blockTime: undefined })
  await chain.mint({ to: order.to, value: 1n })
  return chain
}

/** Reads of a client of their own, and of any of viem's. */
export async function sumReceived(url: string): Promise<bigint> {
  const client = createReadClient({ url })
  const block = await client.getBlockReceipts({ block: 'latest' })
  const filter = { address: order.token, fromBlock: block.blockNumber }
  const logs: ReadLog[] = [
    ...(await client.getLogs(filter)),
    ...(await getLogs(reader, filter)),
  ]
  return logs
    .map(decodeTokenLog)
    .map((event) => (event?.name === 'Transfer' ? event.value : 0n))
    .reduce((sum, value) => sum + value, 0n)
}

export const follow = (url: string, onEvent: (event: LogEvent) => void) =>
  createReadClient({ url }).watchLogs({ address: order.token, onEvent })

export const mayRetry = (error: unknown): boolean =>
  error instanceof CountersignError && error.retryable

/** Compiles only if the compiler knows every status there is. */
function said(outcome: Exclude<PaymentOutcome, { proof: object }>): string {
  switch (outcome.status) {
    case 'unused':
    case 'expired':
      return outcome.status
    case 'canceled':
    case 'consumed':
      return outcome.transactionHash
    case 'unknown':
      return String(outcome.searchedFrom)
  }
}

const order = {
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  amount: '12.50',
} as const

const { domain, message } = samplePayment()
// @ts-expect-error an amount is a decimal string, never a number
buildPayment({ domain, from: message.from, to: message.to, amount: 12.5 })
// @ts-expect-error a block is a bigint, its hex or a tag, never a number
createReadClient({ url: '' }).getBalance({ address: order.to, block: 1 })
// @ts-expect-error no such function pays
samplePayment({ primaryType: 'ApproveWithAuthorization' })
