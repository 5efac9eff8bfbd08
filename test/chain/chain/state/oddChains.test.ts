import {
  capturePayment,
  getPaymentOutcome,
  InvalidFieldError,
  type Payment,
  type SignedPayment,
  signPayment,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { type Client, createClient, custom, type Hex, numberToHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { deployFamilies } from '../../support/families.js'
import {
  draft,
  freshPayer,
  orderOf,
  pageOf,
  tokenOf,
  verdictOf,
} from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant } = chain.clients
const { openZeppelin } = await deployFamilies(chain)
const usdc = tokenOf(chain)

function sign(
  account: PrivateKeyAccount,
  payment: Payment,
  decimals?: number,
): Promise<SignedPayment> {
  const request = () => Promise.reject(new Error('not asked'))
  const expect = pageOf(payment, decimals)
  return signPayment({ account, request }, { payment, expect })
}

async function signedPayment(): Promise<SignedPayment> {
  const payer = await freshPayer(usdc)
  return sign(payer, await draft(chain, usdc, { from: payer.address }))
}

type Change = (answer: Hex) => unknown

/** The chain behind a node whose `eth_call` answers are changed. */
function nodeThatChanges(change: Change): Client {
  return createClient({
    chain: chain.chain,
    pollingInterval: 20,
    transport: custom(
      {
        request: async (args) => {
          const answer = await client.request(args)
          return args.method === 'eth_call' ? change(answer as Hex) : answer
        },
      },
      { retryCount: 0 },
    ),
  })
}

const mark = '0x636f756e7465727369676e206578656375746f72'

/** As on Arbitrum, whose NUMBER tells the number of another chain's block. */
const behindOtherNumber = nodeThatChanges((answer) =>
  answer.startsWith(mark)
    ? `${answer.slice(0, 66)}${'1'.padStart(64, '0')}${answer.slice(130)}`
    : answer,
)

test('where NUMBER is of another chain, a capture is proven by its hash and without', async () => {
  const payment = await signedPayment()
  const hash = await capturePayment(merchant, { payment })
  await waitForOutcome(client, { payment, hash })
  const status = async (known: Parameters<typeof getPaymentOutcome>[1]) =>
    (await getPaymentOutcome(behindOtherNumber, known)).status

  expect(await status({ payment, hash })).toBe('captured')
  expect(await status({ payment })).toBe('captured')
  expect(await status({ payment, block: 'safe' })).toBe(
    (await getPaymentOutcome(client, { payment, block: 'safe' })).status,
  )
})

test('an outcome is not read from another chain, however alike it is', async () => {
  const payment = await signedPayment()
  const hash = await capturePayment(merchant, { payment })
  await waitForOutcome(client, { payment, hash })
  const elsewhere = { ...payment, domain: { ...payment.domain, chainId: 8453 } }
  const nameless = createClient({ transport: custom(client) })
  const watch = { payment: elsewhere, hash, timeout: 500 }

  for (const reader of [client, nameless]) {
    await expect(getPaymentOutcome(reader, watch)).rejects.toThrow(
      InvalidFieldError,
    )
    await expect(waitForOutcome(reader, watch)).rejects.toThrow(
      InvalidFieldError,
    )
  }
})

/** A window that OpenZeppelin's token counts in blocks: bit 47 in both bounds. */
async function blockWindow(): Promise<SignedPayment> {
  const payer = await freshPayer(openZeppelin)
  const payment = await draft(chain, openZeppelin, { from: payer.address })
  const number = await client.getBlockNumber()
  const window = {
    validAfter: 2n ** 47n + number - 1n,
    validBefore: 2n ** 47n + number + 4n,
  }
  const message = { ...payment.message, ...window }
  return sign(payer, { ...payment, message }, 18)
}

test('a window in block numbers is no window in seconds, though the token takes it', async () => {
  const payment = await blockWindow()
  const expectation = { ...orderOf(payment, 18), minRemaining: 600n }

  expect(
    await verifyPayment(client, { payment, expect: expectation }),
  ).toMatchObject({ ok: false, reason: 'notYetValid' })
  expect(await verdictOf(chain, payment, 18)).toBe('notYetValid')
  await expect(capturePayment(merchant, { payment })).rejects.toMatchObject({
    reason: 'notYetValid',
  })
})

test('an answer of the executor cut off anywhere is a fault of the node and never a verdict', async () => {
  const payment = await signedPayment()
  const answers: Hex[] = []
  const watched = nodeThatChanges((answer) => {
    answers.push(answer)
    return answer
  })
  const request = { payment, expect: orderOf(payment) }
  expect(await verifyPayment(watched, request)).toMatchObject({ ok: true })
  const [whole = '0x'] = answers

  for (let length = 66; length < whole.length; length += 31) {
    const node = nodeThatChanges((answer) =>
      answer.startsWith(mark) ? whole.slice(0, length) : answer,
    )
    await expect(verifyPayment(node, request)).rejects.toMatchObject({
      name: 'NodeAnswerError',
      retryable: true,
    })
  }
})

test('an answer of the executor for another question is never ok', async () => {
  const good = await signedPayment()
  const bad = { ...(await signedPayment()), signature: good.signature }
  const answers: Hex[] = []
  const watched = nodeThatChanges((answer) => {
    answers.push(answer)
    return answer
  })
  await getPaymentOutcome(watched, { payment: good })
  const [whole = '0x'] = answers
  const node = nodeThatChanges((answer) =>
    answer.startsWith(mark) ? whole : answer,
  )

  await expect(
    verifyPayment(node, { payment: bad, expect: orderOf(bad) }),
  ).rejects.toMatchObject({ name: 'NodeAnswerError' })
})

test.each([
  ['not hex', 'zz'.repeat(32)],
  ['a huge length', `${'0'.repeat(63)}1${'f'.repeat(192)}`],
  ['all ones', 'f'.repeat(64 * 40)],
])(
  'what follows the mark of the executor is %s, and nothing breaks',
  async (_, rest) => {
    const payment = await signedPayment()
    const node = nodeThatChanges((answer) =>
      answer.startsWith(mark) ? `${answer.slice(0, 66)}${rest}` : answer,
    )

    await expect(
      verifyPayment(node, { payment, expect: orderOf(payment) }),
    ).rejects.toMatchObject({ name: 'NodeAnswerError' })
  },
)

test.each([2n ** 32n, 2n ** 40n])(
  'a gas cap of %i that no field of the executor holds does not garble the calls',
  async (maxCaptureGas) => {
    const payment = await signedPayment()

    expect(
      await verifyPayment(client, {
        payment,
        expect: orderOf(payment),
        maxCaptureGas,
      }),
    ).toMatchObject({ ok: true, at: { via: 'override' } })
  },
)

test('the chain of a payment is compared before the node is asked for its receipt', async () => {
  const payment = await signedPayment()
  const asked: string[] = []
  const node = createClient({
    chain: chain.chain,
    transport: custom({
      request: async (args) => {
        asked.push(args.method)
        return client.request(args)
      },
    }),
  })
  const domain = { ...payment.domain, chainId: 1 }
  const hash = numberToHex(1, { size: 32 })

  await expect(
    waitForOutcome(node, { payment: { ...payment, domain }, hash }),
  ).rejects.toThrow(InvalidFieldError)
  expect(asked).toEqual([])
})
