import {
  buildCancellation,
  encodePayment,
  signCancellation,
  signPayment,
  type Wallet,
} from 'countersign'
import { signPermitCancellation } from 'countersign/checkout'
import {
  buildSpendPermission,
  signSpendPermission,
} from 'countersign/subscriptions'
import { expect, onTestFinished, test } from 'vitest'
import { buildPermitPayment } from '../../../../src/checkout/buildPermitPayment.js'
import { serveTo } from '../../support/clientServer.js'
import {
  account,
  expectation,
  fakeWallet,
  parameters,
  payer,
  payment,
  refuse,
} from '../../support/fakeWallet.js'

type Sign = (
  wallet: Wallet,
  signal: AbortSignal | undefined,
) => Promise<unknown>

const cancellation = buildCancellation({ payment })
const page = { chainId: 8453, token: payment.domain.verifyingContract }
const spender = expectation.to
const period = 86_400n
const permission = buildSpendPermission({
  ...page,
  account: payer,
  spender,
  allowance: '9.99',
  period,
})
const permit = buildPermitPayment({
  domain: payment.domain,
  from: payer,
  to: expectation.to,
  atMost: '50.00',
  nonce: 0n,
})

/** Everything that has a wallet sign. */
const signers: [string, Sign][] = [
  [
    'signPayment',
    (wallet, signal) => signPayment(wallet, { ...parameters, signal }),
  ],
  [
    'signCancellation',
    (wallet, signal) =>
      signCancellation(wallet, { cancellation, expect: page, signal }),
  ],
  [
    'signPermitCancellation',
    (wallet, signal) =>
      signPermitCancellation(wallet, { payment: permit, signal }),
  ],
  [
    'signSpendPermission',
    (wallet, signal) =>
      signSpendPermission(wallet, {
        permission,
        expect: { ...page, spender, allowance: '9.99', period },
        signal,
      }),
  ],
  [
    'pay',
    async (wallet, signal) => {
      const { buyer } = await serveTo(() =>
        Response.json({ payment: JSON.parse(encodePayment(payment)) }),
      )
      return buyer.pay(wallet, { expect: expectation, signal })
    },
  ],
  [
    'cancel',
    async (wallet, signal) => {
      const { buyer } = await serveTo(() => Response.json({ cancellation }))
      return buyer.cancel(wallet, { expect: page, signal })
    },
  ],
]

const reason = new Error('the page was left')

function openPromise<value>() {
  let resolve!: (value: value) => void
  let reject!: (thrown: unknown) => void
  const promise = new Promise<value>((...ends) => {
    ;[resolve, reject] = ends
  })
  return { promise, resolve, reject }
}

/**
 * A wallet that keeps one method waiting. `isAsked` resolves once it is asked
 * for it, `answer` and `fail` end the wait.
 */
function slowWallet(slow: string) {
  const asked: string[] = []
  const question = openPromise<unknown>()
  const waiting = openPromise<void>()
  const request: Wallet['request'] = async ({ method }) => {
    asked.push(method)
    if (method === slow) {
      waiting.resolve()
      return question.promise
    }
    // It knows its accounts in the spelling of its list only.
    if (method === 'eth_signTypedData_v4') throw { code: 4100 }
    return method === 'eth_chainId' ? '0x2105' : [account.address]
  }
  return {
    wallet: { request },
    asked,
    isAsked: waiting.promise,
    answer: question.resolve,
    fail: question.reject,
  }
}

/** The promises that are rejected without anybody to hear it. */
function unheard(): unknown[] {
  const reasons: unknown[] = []
  const note = (thrown: unknown) => reasons.push(thrown)
  process.on('unhandledRejection', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note)
  })
  return reasons
}

const later = () => new Promise((resolve) => setTimeout(resolve))

test.each(signers)(
  '%s ends with the reason of its signal while the wallet waits for its user',
  async (_, sign) => {
    const reasons = unheard()
    const { wallet, isAsked, fail } = slowWallet('eth_signTypedData_v4')
    const leaving = new AbortController()
    const signing = sign(wallet, leaving.signal)
    await Promise.race([isAsked, signing])
    leaving.abort(reason)
    await expect(signing).rejects.toBe(reason)
    fail(new Error('closed'))
    await later()
    expect(reasons).toEqual([])
  },
)

test.each(signers)(
  '%s does not ask the wallet if the signal is aborted already',
  async (_, sign) => {
    const { wallet, asked } = slowWallet('none')
    await expect(sign(wallet, AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(asked).toEqual([])
    const local = { account, request: refuse }
    await expect(sign(local, AbortSignal.abort(reason))).rejects.toBe(reason)
  },
)

test.each(['eth_chainId', 'eth_accounts'])(
  'a wallet that answers %s only after the signal is not asked to sign',
  async (method) => {
    const reasons = unheard()
    const { wallet, asked, isAsked, answer } = slowWallet(method)
    const leaving = new AbortController()
    const signing = signPayment(wallet, {
      ...parameters,
      signal: leaving.signal,
    })
    await isAsked
    leaving.abort(reason)
    await expect(signing).rejects.toBe(reason)
    answer(method === 'eth_chainId' ? '0x2105' : [account.address])
    await later()
    const signs = asked.filter((one) => one === 'eth_signTypedData_v4')
    expect(signs).toHaveLength(method === 'eth_chainId' ? 0 : 1)
    expect(reasons).toEqual([])
  },
)

test('pay ends with the reason of its signal while the wallet asks to connect', async () => {
  const { from: _, ...open } = JSON.parse(encodePayment(payment)).message
  const drafted = { ...JSON.parse(encodePayment(payment)), message: open }
  const { buyer, asked: requests } = await serveTo(() =>
    Response.json({ payment: drafted }),
  )
  const { wallet, asked, isAsked, answer } = slowWallet('eth_requestAccounts')
  const leaving = new AbortController()
  const paying = buyer.pay(wallet, {
    expect: expectation,
    signal: leaving.signal,
  })
  await isAsked
  leaving.abort(reason)
  await expect(paying).rejects.toBe(reason)
  answer([account.address])
  await later()
  expect(asked).toEqual(['eth_requestAccounts'])
  expect(requests).toEqual(['GET /payments/orders/one/payment'])
})

test('a local account that does not answer is left to itself as well', async () => {
  const reasons = unheard()
  const { promise, reject } = openPromise<never>()
  const silent = { ...account, signTypedData: () => promise }
  const leaving = new AbortController()
  const signing = signPayment(
    { account: silent, request: refuse },
    { ...parameters, signal: leaving.signal },
  )
  leaving.abort(reason)
  await expect(signing).rejects.toBe(reason)
  reject(new Error('away'))
  await later()
  expect(reasons).toEqual([])
})

test('a signal that stays quiet changes nothing', async () => {
  const { signal } = new AbortController()
  const signed = await signPayment(fakeWallet(), { ...parameters, signal })
  expect(signed).toEqual(await signPayment(fakeWallet(), parameters))
})

test.each(signers.slice(0, 4))(
  '%s names a signal that is none, and asks no wallet',
  async (_, sign) => {
    for (const signal of [null, 'abort', { aborted: false }, 5_000]) {
      const { wallet, asked } = slowWallet('none')
      await expect(sign(wallet, signal as never)).rejects.toMatchObject({
        name: 'InvalidFieldError',
        details: { field: 'signal', expected: 'an AbortSignal' },
      })
      expect(asked).toEqual([])
    }
  },
)
