import {
  captureCall,
  capturePayment,
  getPaymentOutcome,
  type Payment,
  type SignedPayment,
  signPayment,
  waitForOutcome,
} from 'countersign'
import { deployDevContract, startDevChain } from 'countersign/devchain'
import { type Address, encodeFunctionData, type Hash, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getTransactionReceipt, writeContractSync } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  compileHostile,
  tokenTricks,
  walletTricks,
} from '../../support/hostileContracts.js'
import {
  balanceOf,
  captureOf,
  draft,
  freshPayer,
  pageOf,
  type SettledToken,
  tokenOf,
  verdictOf,
} from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant, relayer } = chain.clients
const contracts = compileHostile()
const usdc = tokenOf(chain)
const batch = await deployDevContract(chain, { contract: contracts.batch })
const herald = await deployDevContract(chain, { contract: contracts.herald })

type TokenTrick = (typeof tokenTricks)[number]
type WalletTrick = (typeof walletTricks)[number]

function sign(payer: PrivateKeyAccount, payment: Payment) {
  const request = () => Promise.reject(new Error('not asked'))
  const expect = pageOf(payment)
  return signPayment({ account: payer, request }, { payment, expect })
}

async function payWithToken(trick: TokenTrick): Promise<SignedPayment> {
  const { abi } = contracts.token
  const address = await deployDevContract(chain, {
    contract: contracts.token,
    args: [BigInt(tokenTricks.indexOf(trick))],
  })
  const token: SettledToken = {
    ...usdc,
    domain: { ...usdc.domain, verifyingContract: address },
    mint: async (to, value) => {
      const args = [to, value]
      const call = { address, abi, functionName: 'mint', args }
      await writeContractSync(relayer, call)
    },
  }
  const payer = await freshPayer(token)
  return sign(payer, await draft(chain, token, { from: payer.address }))
}

async function payWithWallet(trick: WalletTrick): Promise<SignedPayment> {
  const from = await deployDevContract(chain, {
    contract: contracts.wallet,
    args: [BigInt(walletTricks.indexOf(trick)), merchant.account.address],
  })
  await usdc.mint(from, 10_000_000n)
  const payment = await draft(chain, usdc, { from })
  return { ...payment, signature: `0x${'11'.repeat(70)}` }
}

const tokenVerdicts: Partial<Record<TokenTrick, string>> = {
  'succeeds and does nothing': 'simulationFailed',
  'moves half of the value': 'simulationFailed',
  'pays another account': 'simulationFailed',
  'tells of a transfer it did not make': 'simulationFailed',
  'has another contract tell of the transfer': 'simulationFailed',
  'returns a huge answer': 'simulationFailed',
  'reverts with a huge answer': 'gasTooHigh',
  'reverts with a huge reason': 'simulationFailed',
  'burns all gas': 'gasTooHigh',
}

test.each(
  tokenTricks
    .filter((trick) => !trick.startsWith('lies'))
    .map((trick) => [trick, tokenVerdicts[trick] ?? 'ok'] as const),
)(
  'a token that %s is judged %s, and nothing is sent unless it is ok',
  async (trick, verdict) => {
    const payment = await payWithToken(trick)
    const nonce = await client.getTransactionCount(merchant.account)

    expect(await verdictOf(chain, payment)).toBe(verdict)
    expect(await captureOf(chain, payment)).toBe(
      verdict === 'ok' ? 'captured' : verdict,
    )
    expect(await client.getTransactionCount(merchant.account)).toBe(
      verdict === 'ok' ? nonce + 1 : nonce,
    )
  },
)

test('a token that lies in its balances and its events alike is believed: merchants name the token', async () => {
  const payment = await payWithToken(
    'lies in its balances and its events alike',
  )

  expect(await verdictOf(chain, payment)).toBe('ok')
  expect(await captureOf(chain, payment)).toBe('captured')
})

const walletVerdicts: Partial<Record<WalletTrick, string>> = {
  'agrees in an answer that is too short': 'walletRejects',
  'agrees with something else in the word': 'walletRejects',
  'returns a huge answer': 'gasTooHigh',
  'reverts with a huge answer': 'gasTooHigh',
  'burns all gas': 'gasTooHigh',
  'runs out of gas in a loop': 'gasTooHigh',
  'answers nothing': 'walletRejects',
}

test.each(
  walletTricks
    .filter((trick) => !trick.startsWith('agrees only'))
    .map((trick) => [trick, walletVerdicts[trick] ?? 'ok'] as const),
)(
  'a wallet that %s is judged %s, and the capture ends alike',
  async (trick, verdict) => {
    const payment = await payWithWallet(trick)

    expect(await verdictOf(chain, payment)).toBe(verdict)
    expect(await captureOf(chain, payment)).toBe(
      verdict === 'ok' ? 'captured' : verdict,
    )
  },
)

test.each([
  'agrees only in a rehearsal',
  'agrees only while there is plenty of gas',
] as const)(
  'a wallet that %s costs some gas, which is capped, and is no capture',
  async (trick) => {
    const payment = await payWithWallet(trick)
    expect(await verdictOf(chain, payment)).toBe('ok')

    const hash = await capturePayment(merchant, { payment })
    await expect(
      waitForOutcome(client, { payment, hash }),
    ).rejects.toMatchObject({
      name: 'CaptureRevertedError',
      details: { words: 'FiatTokenV2: invalid signature' },
    })
    const { gasUsed } = await getTransactionReceipt(client, { hash })
    expect(gasUsed).toBeLessThan(300_000n)
    expect(await balanceOf(chain, chain.token, payment.message.from)).toBe(
      10_000_000n,
    )
  },
)

// What ends as consumed needs as long as the machine takes to look once.
test.each([
  ['succeeds and does nothing', 'OutcomeTimeoutError', 300],
  ['has another contract tell of the transfer', 'OutcomeTimeoutError', 300],
  ['moves half of the value', 'consumed', 300_000],
  ['pays another account', 'consumed', 300_000],
] as const)(
  'an unrehearsed capture by a token that %s ends as %s',
  async (trick, end, timeout) => {
    const payment = await payWithToken(trick)
    const hash = await capturePayment(merchant, { payment, simulate: false })
    const outcome = await waitForOutcome(client, {
      payment,
      hash,
      timeout,
    }).catch((error: unknown) => ({ status: Object(error).name }))

    expect(await getTransactionReceipt(client, { hash })).toMatchObject({
      status: 'success',
    })
    expect(outcome.status).toBe(end)
  },
)

/** Several calls, of anyone, in one transaction. */
async function runBatch(
  calls: readonly { to: Address; data: Hex }[],
): Promise<Hash> {
  const receipt = await writeContractSync(relayer, {
    address: batch,
    abi: contracts.batch.abi,
    functionName: 'run',
    args: [calls.map(({ to }) => to), calls.map(({ data }) => data)],
  })
  return receipt.transactionHash
}

/** A payment, and another message its payer signed with the same nonce. */
async function payTwice(payer: PrivateKeyAccount) {
  const from = payer.address
  const options = { from, primaryType: 'TransferWithAuthorization' } as const
  const payment = await draft(chain, usdc, options)
  const { message } = await draft(chain, usdc, { ...options, to: batch })
  const twin = {
    ...payment,
    message: { ...message, nonce: payment.message.nonce },
  }
  return {
    payment: await sign(payer, payment),
    twin: await sign(payer, twin),
  }
}

/** The events of a capture, told by a contract that is not the token. */
function fakeEvents({ message }: Payment) {
  const { from, to, value, nonce } = message
  const data = encodeFunctionData({
    abi: contracts.herald.abi,
    functionName: 'tell',
    args: [from, to, value, nonce],
  })
  return { to: herald, data }
}

test('a nonce spent on another message beside faked events and a real payment of the same value is consumed', async () => {
  const payer = await freshPayer(usdc)
  const first = await payTwice(payer)
  const second = await payTwice(payer)
  const hash = await runBatch([
    fakeEvents(first.payment),
    captureCall({ payment: first.twin }),
    fakeEvents(first.payment),
    captureCall({ payment: second.payment }),
    fakeEvents(first.payment),
  ])
  const status = async (payment: Payment) =>
    (await waitForOutcome(client, { payment, hash })).status

  expect(await status(first.payment)).toBe('consumed')
  expect(await status(second.payment)).toBe('captured')
  expect(await status(first.twin)).toBe('captured')
})

test('two payments alike in one transaction are each proven by their own transfer', async () => {
  const payer = await freshPayer(usdc)
  const { payment: first } = await payTwice(payer)
  const { payment: second } = await payTwice(payer)
  const hash = await runBatch([
    captureCall({ payment: second }),
    captureCall({ payment: first }),
  ])
  const proofs = await Promise.all(
    [first, second].map((payment) =>
      getPaymentOutcome(client, { payment, hash }),
    ),
  )

  expect(proofs).toMatchObject([
    { status: 'captured', proof: { logIndex: 3 } },
    { status: 'captured', proof: { logIndex: 1 } },
  ])
})

test('faked events alone leave the payment unused', async () => {
  const payer = await freshPayer(usdc)
  const { payment } = await payTwice(payer)
  const hash = await runBatch([fakeEvents(payment)])

  expect(await getPaymentOutcome(client, { payment, hash })).toEqual({
    status: 'unused',
  })
  expect(await captureOf(chain, payment)).toBe('captured')
})
