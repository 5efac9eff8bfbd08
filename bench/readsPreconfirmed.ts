import { setTimeout as sleep } from 'node:timers/promises'
import {
  buildPayment,
  capturePaymentSync,
  type SignedPayment,
  signCapture,
  signPayment,
  waitForOutcome,
} from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createWalletClient, http } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { sendRawTransaction, waitForTransactionReceipt } from 'viem/actions'
import type { Row } from './compare.js'
import { delayRequests } from './delayRequests.js'
import { sized } from './sized.js'

const transactions = sized(30, 3)
/** Milliseconds: half a tick on average, and one round trip. */
const limit = 100 + 20

/** From a submission to its pre-confirmation: 200 ms ticks, 20 ms of latency. */
export async function benchReadsPreconfirmed(): Promise<Row[]> {
  const chain = await startDevChain({ preconfirmations: 'flashblocks' })
  const proxy = await delayRequests(chain.urls.http, 20)
  try {
    const { sync, poll, viem } = await race(chain, proxy.url)
    const unit = 'time'
    return [
      {
        name: `capturePaymentSync, mean ${sync.toFixed(0)} ms`,
        peer: `limit of ${1.25 * limit} ms`,
        ratio: (1.25 * limit) / sync,
        goal: 1,
        unit,
      },
      {
        name: `waitForOutcome, mean ${poll.toFixed(0)} ms`,
        peer: `limit of ${1.5 * limit} ms`,
        ratio: (1.5 * limit) / poll,
        goal: 1,
        unit,
      },
      {
        name: 'capturePaymentSync',
        peer: `viem wait, mean ${viem.toFixed(0)} ms`,
        ratio: viem / sync,
        goal: 5,
        unit,
        sides: { own: sync, peer: viem, unit: 'ms' },
      },
      {
        name: 'waitForOutcome',
        peer: `viem wait, mean ${viem.toFixed(0)} ms`,
        ratio: viem / poll,
        goal: 0,
        unit,
        sides: { own: poll, peer: viem, unit: 'ms' },
      },
    ]
  } finally {
    await proxy.stop()
    await chain.stop()
  }
}

type Times = { sync: number; poll: number; viem: number }

/** Mean milliseconds of each way, in turns and at random phases. */
async function race(chain: DevChain, url: string): Promise<Times> {
  const [, , , first, second, third] = chain.accounts
  if (!first || !second || !third) throw new Error('Six accounts are needed.')
  const ways = {
    sync: await prepareWay(chain, { url, to: first, submit: captureSync }),
    poll: await prepareWay(chain, { url, to: second, submit: sendAndPoll }),
    viem: await prepareWay(chain, { url, to: third, submit: sendAndWait }),
  }
  const times: Record<keyof Times, Promise<number>[]> = {
    sync: [],
    poll: [],
    viem: [],
  }
  for (let count = 0; count < transactions; count++) {
    // viem's wait mostly sleeps, and does so beside the others.
    const apart = sleep(Math.random() * 200)
    times.viem.push(apart.then(() => timed(ways.viem[count])))
    for (const way of ['sync', 'poll'] as const) {
      await sleep(Math.random() * 200)
      const time = timed(ways[way][count])
      times[way].push(time)
      await time
    }
  }
  return {
    sync: mean(await Promise.all(times.sync)),
    poll: mean(await Promise.all(times.poll)),
    viem: mean(await Promise.all(times.viem)),
  }
}

type Submission = {
  client: ReturnType<typeof connect>
  payment: SignedPayment
  /** Everything is given, so that only the submission asks the node. */
  options: Parameters<typeof signCapture>[1]
}

function connect(chain: DevChain, account: PrivateKeyAccount, url: string) {
  return createWalletClient({
    account,
    // The pace of Base as viem knows it: one look a second.
    chain: { ...chain.chain, blockTime: 2_000 },
    transport: http(url),
  })
}

async function prepareWay(
  chain: DevChain,
  {
    url,
    to,
    submit,
  }: {
    url: string
    to: PrivateKeyAccount
    submit(submission: Submission): Promise<() => Promise<void>>
  },
): Promise<(() => Promise<void>)[]> {
  const runs: (() => Promise<void>)[] = []
  for (let nonce = 0; nonce < transactions; nonce++) {
    const payment = await signFor(chain, to)
    const options = {
      payment,
      nonce,
      gas: 200_000n,
      simulate: false,
      maxFeePerGas: 50_000_000_000n,
      maxPriorityFeePerGas: 1n,
    }
    const client = connect(chain, to, url)
    runs.push(await submit({ client, payment, options }))
  }
  return runs
}

async function signFor(
  chain: DevChain,
  to: PrivateKeyAccount,
): Promise<SignedPayment> {
  const { payer } = chain.clients
  const order = { token: chain.token, to: to.address, amount: '1' }
  const chainId = chain.chain.id
  const payment = buildPayment({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId,
      verifyingContract: chain.token,
    },
    from: payer.account.address,
    to: to.address,
    amount: order.amount,
  })
  return signPayment(payer, { payment, expect: { ...order, chainId } })
}

const captureSync =
  async ({ client, options }: Submission) =>
  async () => {
    const outcome = await capturePaymentSync(client, options)
    if (outcome.status !== 'captured') throw new Error(outcome.status)
  }

const sendAndPoll = async ({ client, payment, options }: Submission) => {
  const { raw, hash } = await signCapture(client, options)
  return async () => {
    await sendRawTransaction(client, { serializedTransaction: raw })
    const outcome = await waitForOutcome(client, {
      payment,
      hash,
      finality: 'preconfirmed',
      pollingInterval: 10,
    })
    if (outcome.status !== 'captured') throw new Error(outcome.status)
  }
}

const sendAndWait = async ({ client, options }: Submission) => {
  const { raw, hash } = await signCapture(client, options)
  return async () => {
    await sendRawTransaction(client, { serializedTransaction: raw })
    await waitForTransactionReceipt(client, { hash })
  }
}

async function timed(run: (() => Promise<void>) | undefined): Promise<number> {
  const start = performance.now()
  await run?.()
  return performance.now() - start
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
