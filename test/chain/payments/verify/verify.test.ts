import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  ClockSkewError,
  captureCall,
  capturePayment,
  NodeAnswerError,
  NodeError,
  type Payment,
  type PaymentExpectation,
  type PaymentVerdict,
  type SignedPayment,
  type VerifyPaymentParameters,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { devContracts, startDevChain } from 'countersign/devchain'
import {
  type Address,
  type Client,
  concatHex,
  createClient,
  custom,
  formatUnits,
  getAddress,
  type Hex,
  http,
  keccak256,
  numberToHex,
  RpcRequestError,
  serializeErc6492Signature,
  stringToHex,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getBlock, mine, sendTransaction, setCode } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { deployDevContract } from '../../../../src/devchain/deployDevContract.js'
import {
  delegate,
  deployFamilies,
  type Family,
} from '../../support/families.js'
import { account, sign } from '../../support/signing.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const { public: client, merchant: wallet } = chain.clients
const merchant = wallet.account.address.toLowerCase() as Address
const families = await deployFamilies(chain)
const { circle22, circle21, circle20, paxos, decimals18 } = families
const openZeppelin = families.openZeppelin
const unit = 1_000_000n
const stranger = account('stranger')

type Request = { method: string; params: readonly unknown[] }
type Answer = (request: Request) => unknown

const direct = createClient({
  transport: http(chain.urls.http, { retryCount: 0 }),
})

const pass: Answer = ({ method, params }) =>
  direct.request({ method, params } as never)

/** A client of a node that answers as a function says; `chain` left open. */
function nodeThat(answer: Answer): Client & { asked: Request[] } {
  const asked: Request[] = []
  const request = async ({ method, params = [] }: Request) => {
    asked.push({ method, params })
    return answer({ method, params })
  }
  const transport = custom({ request }, { retryCount: 0 })
  return Object.assign(createClient({ transport }), { asked })
}

const usesOverride = ({ params }: Request): boolean => params.length > 2

/** A node that knows no state overrides and drops what it does not know. */
const plainNode = () =>
  nodeThat(({ method, params }) =>
    pass({
      method,
      params: method === 'eth_call' ? params.slice(0, 2) : params,
    }),
  )

const rpcError = (code: number, message: string, data?: Hex) =>
  new RpcRequestError({
    body: {},
    url: 'http://node.example',
    error: { code, message, data },
  })

let payers = 0

async function freshPayer(
  family: Family = circle22,
  value = 100n * unit,
): Promise<PrivateKeyAccount> {
  const payer = account(`payer ${payers++}`)
  await family.mint(payer.address, value)
  return payer
}

const now = async () => (await getBlock(client)).timestamp

type Changes = {
  family?: Family
  payer?: PrivateKeyAccount
  signer?: PrivateKeyAccount
  primaryType?: Payment['primaryType']
  message?: Partial<Payment['message']>
  domain?: Partial<Payment['domain']>
}

/** A payment of one dollar that can be captured, but for the changes. */
async function pay(changes: Changes = {}): Promise<SignedPayment> {
  const { family = circle22 } = changes
  const payer = changes.payer ?? (await freshPayer(family))
  const time = await now()
  const payment: Payment = {
    primaryType: changes.primaryType ?? 'ReceiveWithAuthorization',
    domain: { ...family.domain, ...changes.domain },
    message: {
      from: payer.address.toLowerCase() as Address,
      to: merchant,
      value: unit,
      validAfter: time - 60n,
      validBefore: time + 900n,
      nonce: keccak256(stringToHex(`${payer.address} ${payers++}`)),
      ...changes.message,
    },
  }
  return { ...payment, signature: await sign(changes.signer ?? payer, payment) }
}

/** What the merchant of this payment expects. */
function expecting(
  { domain, message, primaryType }: Payment,
  changes: Partial<PaymentExpectation> = {},
): PaymentExpectation {
  const token = domain.verifyingContract
  const family = Object.values(families).find((it) => it.token === token)
  const amount = formatUnits(message.value, family?.decimals ?? 6)
  return { token, to: message.to, amount, primaryType, ...changes }
}

function verify(
  payment: SignedPayment,
  {
    expect: changes,
    by = client,
    ...rest
  }: Partial<Omit<VerifyPaymentParameters, 'expect'>> & {
    expect?: Partial<PaymentExpectation>
    by?: Client
  } = {},
): Promise<PaymentVerdict> {
  const expect = expecting(payment, changes)
  return verifyPayment(by, { payment, expect, ...rest })
}

/** A verdict without the block it was reached at. */
async function verdictOf(
  ...parameters: Parameters<typeof verify>
): Promise<object> {
  const { at, ...verdict } = await verify(...parameters)
  return verdict
}

const refusal = (reason: string, words?: string): object => ({
  ok: false,
  reason,
  details: words ? { words } : {},
})

const capture = async (payment: SignedPayment) =>
  waitForOutcome(client, {
    payment,
    hash: await capturePayment(wallet, { payment }),
  })

const invalid = 'FiatTokenV2: invalid signature'
const spent = 'FiatTokenV2: authorization is used or canceled'
const isExpired = 'FiatTokenV2: authorization is expired'
const isBlocked = 'Blacklistable: account is blacklisted'

test('a passing verdict names block, time, way and gas', async () => {
  const payment = await pay()
  const { number, timestamp } = await getBlock(client)
  const verdict = await verify(payment)
  const gasUsed = expect.any(BigInt)
  const at = { block: number, time: timestamp, via: 'override', gasUsed }
  expect(verdict).toEqual({ ok: true, at })
})

test('what is expected may be in any letter case', async () => {
  const payment = await pay()
  const { token, to } = expecting(payment)
  const upper = (text: Hex) => `0x${text.slice(2).toUpperCase()}` as const
  const { from, nonce } = payment.message
  const spelled = {
    token: getAddress(token),
    to: getAddress(to),
    from: getAddress(from),
    nonce: upper(nonce),
  }
  expect(nonce).not.toBe(upper(nonce))
  expect(await verify(payment, { expect: spelled })).toMatchObject({ ok: true })
})

test('the gas of the verdict covers that of the capture, closely', async () => {
  const payment = await pay()
  const { at } = await verify(payment)
  const outcome = await capture(payment)
  const paid = outcome.status === 'captured' ? outcome.proof.gasUsed : 0n
  expect(at?.gasUsed).toBeGreaterThanOrEqual(paid)
  expect(at?.gasUsed).toBeLessThan(paid + 6_000n)
})

test('a verdict is one request, and none where the message decides', async () => {
  const node = nodeThat(pass)
  const payment = await pay()
  await verify(payment, { by: node, expect: { to: circle22.token } })
  expect(node.asked).toHaveLength(0)
  await verify(payment, { by: node })
  expect(node.asked.map(({ method }) => method)).toEqual(['eth_call'])
})

test('a past block is judged as it was', async () => {
  const payer = account('late payer')
  const payment = await pay({ payer })
  const block = (await getBlock(client)).number
  await circle22.mint(payer.address, unit)
  const early = await verify(payment, { block })
  expect(early).toMatchObject({ reason: 'insufficientFunds', at: { block } })
  expect((await verify(payment)).ok).toBe(true)
})

const ways = [
  ['override', () => client],
  ['calls', () => plainNode()],
] as const

for (const [via, by] of ways) {
  test(`a paused token (${via})`, async () => {
    const payment = await pay()
    await circle22.pause?.(true)
    const verdict = await verdictOf(payment, { by: by() })
    await circle22.pause?.(false)
    expect(verdict).toEqual(refusal('paused', 'Pausable: paused'))
  })

  test(`a blocked payer, whoever else is blocked (${via})`, async () => {
    const payment = await pay()
    await circle22.block?.(payment.message.from, true)
    const one = await verdictOf(payment, { by: by() })
    await circle22.block?.(merchant, true)
    const both = await verdictOf(payment, { by: by() })
    await circle22.block?.(merchant, false)
    expect([one, both]).toEqual([
      refusal('payerBlocked', isBlocked),
      refusal('payerBlocked', isBlocked),
    ])
  })

  test(`a blocked recipient (${via})`, async () => {
    const payment = await pay({ message: { to: account('blocked').address } })
    await circle22.block?.(payment.message.to, true)
    const verdict = await verdictOf(payment, { by: by() })
    expect(verdict).toEqual(refusal('recipientBlocked', isBlocked))
  })

  test(`an account frozen by Paxos (${via})`, async () => {
    const payment = await pay({ family: paxos })
    await paxos.block?.(payment.message.from, true)
    const verdict = await verdictOf(payment, { by: by() })
    expect(verdict).toEqual(refusal('payerBlocked', 'AddressFrozen()'))
  })

  test(`both bounds of the window are exclusive (${via})`, async () => {
    const { number: block, timestamp: time } = await getBlock(client)
    const [early, late, inside] = await Promise.all(
      [
        { validAfter: time },
        { validBefore: time },
        { validAfter: time - 1n, validBefore: time + 1n },
      ].map(async (message) =>
        verdictOf(await pay({ payer, message }), { by: by(), block }),
      ),
    )
    expect(early).toEqual(
      refusal('notYetValid', 'FiatTokenV2: authorization is not yet valid'),
    )
    expect(late).toEqual(refusal('expired', isExpired))
    expect(inside).toEqual({ ok: true })
  })

  test(`OpenZeppelin's one error tells both bounds (${via})`, async () => {
    const payer = await freshPayer(openZeppelin)
    const time = await now()
    const of = async (message: object) =>
      verdictOf(await pay({ family: openZeppelin, payer, message }), {
        by: by(),
      })
    const words = 'ERC3009InvalidAuthorizationTime()'
    expect(await of({ validAfter: time })).toEqual(
      refusal('notYetValid', words),
    )
    expect(await of({ validBefore: time })).toEqual(refusal('expired', words))
  })

  test(`a captured payment (${via})`, async () => {
    const payment = await pay()
    await capture(payment)
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('consumed', spent),
    )
  })

  test(`a captured payment of Paxos, which does not revert (${via})`, async () => {
    const payment = await pay({ family: paxos })
    await capture(payment)
    expect(await verdictOf(payment, { by: by() })).toEqual(refusal('consumed'))
  })

  test.each([
    ['usdc', invalid],
    ['circle22', invalid],
    ['circle21', invalid],
    ['paxos', 'InvalidSignature()'],
    ['openZeppelin', 'ERC3009InvalidSignature()'],
  ] as const)(
    `a domain that is not the token's, %s (${via})`,
    async (name, words) => {
      const family = families[name]
      const payment = await pay({ family, domain: { name: 'Coin' } })
      expect(await verdictOf(payment, { by: by() })).toEqual(
        refusal('wrongDomain', words),
      )
    },
  )

  test(`another signer (${via})`, async () => {
    const payment = await pay({ signer: stranger })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('wrongSigner', invalid),
    )
  })

  test(`a signature wrapped for a wallet that is not there (${via})`, async () => {
    const payment = wrap(await pay({ signer: stranger }))
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('walletNotDeployed', invalid),
    )
  })

  test(`a wrapped signature of a wallet that is there (${via})`, async () => {
    const payment = wrap(await payFromWallet('strictWallet'))
    expect(await verdictOf(payment, { by: by() })).toEqual({ ok: true })
  })

  test(`a wallet that refuses (${via})`, async () => {
    const payment = await payFromWallet('strictWallet', { signer: stranger })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('walletRejects', invalid),
    )
  })

  test(`a wallet that refuses a wrapped signature (${via})`, async () => {
    const signer = stranger
    const payment = wrap(await payFromWallet('strictWallet', { signer }))
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('walletRejects', invalid),
    )
  })

  test(`a wallet at a token that knows keys only (${via})`, async () => {
    const family = circle21
    const payment = await payFromWallet('permissiveWallet', { family })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('wrongSigner', invalid),
    )
  })

  test(`more than the payer has (${via})`, async () => {
    const payment = await pay({ message: { value: 101n * unit } })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('insufficientFunds', 'ERC20: transfer amount exceeds balance'),
    )
  })

  test(`no code where the token should be (${via})`, async () => {
    const verifyingContract = account('nothing').address.toLowerCase()
    const payment = await pay({ domain: { verifyingContract } as object })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('unsupportedToken'),
    )
  })

  test(`a token that answers false and moves nothing (${via})`, async () => {
    const { address } = account('false')
    // Returns a word of zeros, whatever is called.
    await setCode(chain.clients.test, { address, bytecode: '0x60205ff3' })
    const verifyingContract = address.toLowerCase()
    const payment = await pay({ domain: { verifyingContract } as object })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('simulationFailed', 'the exact value would not arrive'),
    )
  })

  test(`a token without receiveWithAuthorization (${via})`, async () => {
    const payment = await pay({ family: circle20 })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('unsupportedToken'),
    )
  })

  test(`a wallet that agrees only while gas is free (${via})`, async () => {
    const payment = await payFromWallet('lyingWallet')
    const { to, data } = captureCall({ payment })
    const hash = await sendTransaction(wallet, { to, data, gas: 300_000n })
    const { status } = await client.waitForTransactionReceipt({ hash })
    expect(status).toBe('reverted')
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('gasTooHigh', invalid),
    )
  })

  test(`the same behind three proxies, each keeping gas back (${via})`, async () => {
    let implementation = await deployDevContract(chain, {
      contract: devContracts.lyingWallet,
      args: [account('owner').address],
    })
    for (const layer of ['inner', 'middle', 'outer'])
      implementation = await proxy(`${layer} ${via}`, implementation)
    await circle22.mint(implementation, unit)
    const from = implementation.toLowerCase() as Address
    const signer = account('owner')
    const payment = await pay({ payer: signer, message: { from } })
    expect(await verdictOf(payment, { by: by() })).toEqual(
      refusal('gasTooHigh', invalid),
    )
  })

  test(`a capture that costs more than allowed (${via})`, async () => {
    const payment = await pay()
    const { at } = await verify(payment)
    const used = at?.gasUsed ?? 0n
    const allow = (maxCaptureGas: bigint) =>
      verdictOf(payment, { by: by(), maxCaptureGas })
    expect(await allow(used + 5_000n)).toEqual({ ok: true })
    expect(await allow(used - 10_000n)).toMatchObject({ reason: 'gasTooHigh' })
    expect(await allow(1_000n)).toMatchObject({ reason: 'gasTooHigh' })
  })

  test(`a node on another chain (${via})`, async () => {
    const payment = await pay({ domain: { chainId: 8453 } })
    const node = via === 'calls' ? plainNode() : nodeThat(pass)
    expect(await verdictOf(payment, { by: node })).toEqual({
      ok: false,
      reason: 'wrongChain',
      details: { found: 8453, expected: 31337 },
    })
  })

  test(`an amount other than expected, at 18 decimals (${via})`, async () => {
    const value = 10n ** 18n
    const payer = await freshPayer(decimals18, 10n * value)
    const payment = await pay({ family: decimals18, payer, message: { value } })
    const of = (amount: string) =>
      verdictOf(payment, { by: by(), expect: { amount } })
    expect(await of('1')).toEqual({ ok: true })
    expect(await of('1.000000000000000001')).toEqual({
      ok: false,
      reason: 'wrongAmount',
      details: { value, expected: value + 1n },
    })
  })

  test(`too little time to capture (${via})`, async () => {
    const payment = await pay()
    const remaining = payment.message.validBefore - (await now())
    const of = (minRemaining: bigint) =>
      verdictOf(payment, { by: by(), expect: { minRemaining } })
    expect(await of(remaining)).toEqual({ ok: true })
    expect(await of(remaining + 1n)).toEqual({
      ok: false,
      reason: 'expiresTooSoon',
      details: { remaining, minRemaining: remaining + 1n },
    })
    expect(await of(Number.NaN as unknown as bigint)).toMatchObject({
      reason: 'expiresTooSoon',
    })
  })
}

const payer = await freshPayer()

const wrap = (payment: SignedPayment): SignedPayment => ({
  ...payment,
  signature: serializeErc6492Signature({
    address: merchant,
    data: '0x01',
    signature: payment.signature,
  }),
})

/** A minimal proxy (EIP-1167). */
async function proxy(label: string, target: Address): Promise<Address> {
  const { address } = account(label)
  const bytecode = concatHex([
    '0x363d3d373d3d3d363d73',
    target,
    '0x5af43d82803e903d91602b57fd5bf3',
  ])
  await setCode(chain.clients.test, { address, bytecode })
  return address
}

type Wallet = 'strictWallet' | 'permissiveWallet' | 'lyingWallet'

/** A payment of a contract wallet that its owner signs. */
async function payFromWallet(
  name: Wallet,
  { family = circle22, signer = account('owner'), message }: Changes = {},
): Promise<SignedPayment> {
  const args = name === 'permissiveWallet' ? [] : [account('owner').address]
  const contract = devContracts[name]
  const from = await deployDevContract(chain, { contract, args })
  await family.mint(from, 10n * unit)
  return pay({
    family,
    payer: signer,
    message: { from: from.toLowerCase() as Address, ...message },
  })
}

test.each([
  ['expired and used', 'expired', { expired: true, used: true }],
  ['expired and badly signed', 'expired', { expired: true, badly: true }],
  ['used and badly signed', 'consumed', { used: true, badly: true }],
  ['short and badly signed', 'wrongSigner', { short: true, badly: true }],
  ['used and short', 'consumed', { used: true, short: true }],
  ['blocked and expired', 'payerBlocked', { blocked: true, expired: true }],
  ['paused and blocked', 'paused', { paused: true, blocked: true }],
  ['short and unexpected', 'insufficientFunds', { short: true, other: true }],
  ['unexpected and late', 'wrongAmount', { other: true, late: true }],
  ['late', 'expiresTooSoon', { late: true }],
] as const)('first match wins: %s is %s', async (_, reason, given) => {
  const has = (name: string): boolean => name in given
  const payer = await freshPayer()
  const first = await pay({ payer })
  if (has('used')) await capture(first)
  const payment = await pay({
    payer,
    signer: has('badly') ? stranger : payer,
    message: {
      nonce: first.message.nonce,
      ...(has('short') ? { value: 1000n * unit } : {}),
      ...(has('expired') ? { validBefore: await now() } : {}),
    },
  })
  if (has('blocked')) await circle22.block?.(payer.address, true)
  if (has('paused')) await circle22.pause?.(true)
  const verdict = await verdictOf(payment, {
    expect: {
      ...(has('other') ? { amount: '7' } : {}),
      ...(has('late') ? { minRemaining: 100_000n } : {}),
    },
  })
  if (has('paused')) await circle22.pause?.(false)
  expect(verdict).toMatchObject({ ok: false, reason })
})

test('a refusal that takes almost all the gas allowed keeps its reason', async () => {
  const payment = await pay({ message: { validBefore: await now() } })
  const { at } = await verify(payment)
  const maxCaptureGas = (at?.gasUsed ?? 0n) + 500n
  expect(await verdictOf(payment, { maxCaptureGas })).toEqual(
    refusal('expired', isExpired),
  )
})

test('a signature so long that its data alone costs too much gas', async () => {
  const payment = await payFromWallet('permissiveWallet')
  const signature = concatHex([payment.signature, `0x${'ab'.repeat(7000)}`])
  const long = { ...payment, signature }
  const { to, data } = captureCall({ payment: long })
  const hash = await sendTransaction(wallet, { to, data, gas: 300_000n })
  await mine(chain.clients.test, { blocks: 1 })
  const receipt = client.getTransactionReceipt({ hash })
  await expect(receipt).rejects.toThrow('could not be found')
  expect(await verdictOf(long)).toEqual(refusal('gasTooHigh'))
  expect((await verify(long, { maxCaptureGas: 400_000n })).ok).toBe(true)
})

/**
 * A token that moves one unit whatever it is asked, and knows nothing but
 * `balanceOf` and `receiveWithAuthorization`:
 *
 * selector; receive → slot 0 += 1; balanceOf → slot 0; anything else reverts.
 */
const oddToken: Hex =
  '0x5f3560e01c8063ef55bec614601c57806370a08231146025575f5ffd5b60015f54015f55005b5f545f5260205ff3'

test('a token that moves another value than asked', async () => {
  const verifyingContract = account('odd').address.toLowerCase() as Address
  await setCode(chain.clients.test, {
    address: verifyingContract,
    bytecode: oddToken,
  })
  const of = async (value: bigint) =>
    verdictOf(await pay({ domain: { verifyingContract }, message: { value } }))
  expect(await of(1n)).toEqual({ ok: true })
  expect(await of(2n)).toEqual(
    refusal('simulationFailed', 'the exact value would not arrive'),
  )
})

test('the token as the recipient is asked by plain calls', async () => {
  const node = nodeThat(pass)
  const primaryType = 'TransferWithAuthorization'
  const of = async (family: Family) => {
    const message = { to: family.token }
    return verify(await pay({ family, primaryType, message }), { by: node })
  }
  expect(await of(circle22)).toMatchObject({
    reason: 'recipientBlocked',
    at: { via: 'calls' },
  })
  expect(await of(circle20)).toMatchObject({ ok: true, at: { via: 'calls' } })
  expect((await verify(await pay(), { by: node })).at?.via).toBe('override')
})

test('a recipient that is a contract', async () => {
  const contract = devContracts.strictWallet
  const args = [merchant]
  const to = await deployDevContract(chain, { contract, args })
  const message = { to: to.toLowerCase() as Address }
  expect(await verdictOf(await pay({ message }))).toEqual({ ok: true })
  const signer = stranger
  expect(await verdictOf(await pay({ message, signer }))).toEqual(
    refusal('wrongSigner', invalid),
  )
})

test('a recipient with delegated code receives what the verdict promised', async () => {
  const { relayer } = chain.clients
  await delegate(chain, relayer.account.address, devContracts.strictDelegate)
  const to = relayer.account.address.toLowerCase() as Address
  const payment = await pay({ message: { to } })
  expect(await verdictOf(payment)).toEqual({ ok: true })
  const hash = await capturePayment(relayer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  await setCode(chain.clients.test, { address: to, bytecode: '0x' })
  expect(outcome.status).toBe('captured')
})

test('a payer can be the one who captures', async () => {
  const { payer } = chain.clients
  const primaryType = 'TransferWithAuthorization'
  const payment = await pay({ payer: payer.account, primaryType })
  expect(await verdictOf(payment)).toEqual({ ok: true })
  const hash = await capturePayment(payer, { payment })
  const outcome = await waitForOutcome(client, { payment, hash })
  expect(outcome.status).toBe('captured')
})

test('the clock of a development chain may be anything', async () => {
  const payment = await pay()
  const far = (await now()) + 1_000_000n
  expect((await verify(payment, { now: far })).ok).toBe(true)
})

/** The chain, as if it were Base: its id in the header of each answer. */
const baseNode = () =>
  nodeThat(async (request) => {
    const answer = await pass(request)
    return request.method === 'eth_call' && typeof answer === 'string'
      ? answer.slice(0, 194) +
          numberToHex(8453, { size: 32 }).slice(2) +
          answer.slice(258)
      : answer
  })

test.each([
  [-121n, true],
  [-120n, false],
  [120n, false],
  [121n, true],
])('a wall clock %d s from the chain is a fault: %s', async (skew, fault) => {
  const payment = await pay({ domain: { chainId: 8453 } })
  const time = await now()
  const verdict = verify(payment, { by: baseNode(), now: time + skew })
  if (!fault)
    return expect(verdict).resolves.toMatchObject({ reason: 'wrongDomain' })
  await expect(verdict).rejects.toThrow(
    new ClockSkewError({ chain: time, wall: time + skew }),
  )
})

test('a block chosen by number is not compared with the wall clock', async () => {
  const payment = await pay({ domain: { chainId: 8453 } })
  const block = (await getBlock(client)).number
  const verdict = await verify(payment, { by: baseNode(), now: 1n, block })
  expect(verdict).toMatchObject({ reason: 'wrongDomain', at: { block } })
})

const mark = stringToHex('countersign executor, answer 1', { size: 32 })

test.each([
  ['nothing', null],
  ['a number', 5],
  ['text', 'hello'],
  ['an object', {}],
  ['a list', []],
  ['no bytes', '0x'],
  ['half a byte', '0x0'],
  ['the right word and no more', mark],
  ['the right word and no hex', `${mark}zz`],
  ['the right word and zeros', `${mark}${'00'.repeat(32 * 4)}`],
  ['the right word and noise', `${mark}${'ff'.repeat(4096)}`],
])('a node that answers %s is no verdict', async (_, result) => {
  const verdict = verify(await pay(), { by: nodeThat(() => result) })
  await expect(verdict).rejects.toThrow(NodeAnswerError)
})

test.each([
  ['refuses connections', new TypeError('fetch failed'), true],
  ['limits rates', rpcError(-32005, 'limit exceeded'), true],
  ['is broken inside', rpcError(-32603, 'internal error'), true],
  ['lacks the state', rpcError(-32000, 'missing trie node'), false],
  ['is out of credits', rpcError(-32000, 'no gas credits left'), false],
  ['lacks the method', rpcError(-32601, 'method not found'), false],
  ['dislikes the parameters', rpcError(-32602, 'invalid params'), false],
] as const)('a node that %s is no verdict', async (_, error, retryable) => {
  const node = nodeThat(() => {
    throw error
  })
  const fault = await verify(await pay(), { by: node }).catch((it) => it)
  expect(fault).toBeInstanceOf(NodeError)
  expect(fault.retryable).toBe(retryable)
})

test.each([
  [500, '{"error":"down"}', true],
  [429, 'slow down', true],
  [401, 'who are you', false],
  [200, '<html>', true],
])('HTTP %d with %s is no verdict', async (status, body, retryable) => {
  const server = createServer((_, response) =>
    response.writeHead(status).end(body),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const transport = http(`http://127.0.0.1:${port}`, { retryCount: 0 })
  const by = createClient({ transport })
  const fault = await verify(await pay(), { by }).catch((it) => it)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(fault.name).toMatch(/^Node(Answer)?Error$/)
  expect(fault.retryable).toBe(retryable)
})

test('a refusal of overrides is remembered, by the client it was given to', async () => {
  const node = nodeThat((request) => {
    if (usesOverride(request)) throw rpcError(-32602, 'too many arguments')
    return pass(request)
  })
  const payment = await pay()
  const first = await verify(payment, { by: node })
  const second = await verify(payment, { by: node })
  expect([first.at?.via, second.at?.via]).toEqual(['calls', 'calls'])
  expect(node.asked.filter(usesOverride)).toHaveLength(1)
  expect((await verify(payment)).at?.via).toBe('override')
})

test('overrides that are ignored are remembered as well', async () => {
  const node = plainNode()
  const payment = await pay()
  await verify(payment, { by: node })
  await verify(payment, { by: node })
  expect(node.asked.filter(usesOverride)).toHaveLength(1)
})

test('a refusal for another reason is worked around and not remembered', async () => {
  let refusals = 0
  const node = nodeThat((request) => {
    if (usesOverride(request) && refusals++ === 0)
      throw rpcError(-32000, 'out of memory')
    return pass(request)
  })
  const payment = await pay()
  const first = await verify(payment, { by: node })
  const second = await verify(payment, { by: node })
  expect([first.at?.via, second.at?.via]).toEqual(['calls', 'override'])
})

test('an internal error is worked around and not remembered', async () => {
  let failing = true
  const by = nodeThat(async (request) => {
    if (usesOverride(request) && failing) throw rpcError(-32603, 'internal')
    return pass(request)
  })
  const payment = await pay()
  expect(await verify(payment, { by })).toMatchObject({ at: { via: 'calls' } })
  failing = false
  expect(await verify(payment, { by })).toMatchObject({
    at: { via: 'override' },
  })
})

test('a block the node does not know says nothing of overrides', async () => {
  const by = nodeThat(pass)
  const payment = await pay()
  await expect(verify(payment, { by, block: 10n ** 12n })).rejects.toThrow()
  expect(await verify(payment, { by })).toMatchObject({
    at: { via: 'override' },
  })
})

test('a passing fault of the network is not remembered', async () => {
  let faults = 0
  const node = nodeThat((request) => {
    if (faults++ === 0) throw new TypeError('fetch failed')
    return pass(request)
  })
  const payment = await pay()
  await expect(verify(payment, { by: node })).rejects.toThrow(NodeError)
  expect((await verify(payment, { by: node })).at?.via).toBe('override')
})

test('an answer cut off anywhere is a fault or asked again, never a verdict', async () => {
  const payment = await pay()
  let whole = ''
  await verify(payment, {
    by: nodeThat(async (request) => {
      whole = String(await pass(request))
      return whole
    }),
  })
  for (let length = 68; length < whole.length; length += 38) {
    const by = nodeThat(() => whole.slice(0, length))
    await expect(verify(payment, { by })).rejects.toThrow(NodeAnswerError)
  }
})

test('an answer with something after it is a fault', async () => {
  const by = nodeThat(async (request) => `${await pass(request)}00`)
  await expect(verify(await pay(), { by })).rejects.toThrow(NodeAnswerError)
})

test.each([
  ['scene', 8],
  ['played call', 17],
])('a forged length of the %s is a fault', async (_, index) => {
  const at = 2 + index * 64
  const by = nodeThat(async (request) => {
    const answer = String(await pass(request))
    const forged = numberToHex(2n ** 255n, { size: 32 }).slice(2)
    return answer.slice(0, at) + forged + answer.slice(at + 64)
  })
  await expect(verify(await pay(), { by })).rejects.toThrow(NodeAnswerError)
})

test('a node that gives the words of a revert and no data', async () => {
  const node = nodeThat(async (request) => {
    if (usesOverride(request)) throw rpcError(-32602, 'too many arguments')
    try {
      return await pass(request)
    } catch (error) {
      throw rpcError(-32000, String(Object(error).details))
    }
  })
  const expired = await pay({ message: { validBefore: await now() } })
  expect(await verdictOf(expired, { by: node })).toEqual(
    refusal('expired', isExpired),
  )
  const forged = await pay({ signer: stranger })
  expect(await verdictOf(forged, { by: node })).toEqual(
    refusal('wrongSigner', invalid),
  )
})
