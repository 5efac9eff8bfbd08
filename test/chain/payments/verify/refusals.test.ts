import { captureCall, type SignedPayment } from 'countersign'
import { devContracts } from 'countersign/devchain'
import { type Address, concatHex, serializeErc6492Signature } from 'viem'
import { getBlock, sendTransaction, setCode } from 'viem/actions'
import { expect, test } from 'vitest'
import { deployDevContract } from '../../../../src/devchain/deployDevContract.js'
import { account } from '../../support/signing.js'
import {
  capture,
  chain,
  circle20,
  circle21,
  circle22,
  client,
  decimals18,
  families,
  freshPayer,
  invalid,
  isExpired,
  merchant,
  nodeThat,
  now,
  pass,
  paxos,
  pay,
  payFromWallet,
  plainNode,
  refusal,
  stranger,
  unit,
  verdictOf,
  verify,
  wallet,
} from '../../support/verifyDesk.js'

const openZeppelin = families.openZeppelin
const spent = 'FiatTokenV2: authorization is used or canceled'
const isBlocked = 'Blacklistable: account is blacklisted'

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
      refusal(
        'simulationFailed',
        'the recipient would not receive exactly the signed value',
      ),
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
