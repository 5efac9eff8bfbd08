import { SignTypedDataVersion, signTypedData } from '@metamask/eth-sig-util'
import {
  buildCancellation,
  type Cancellation,
  hashPayment,
  type Payment,
  type SignedPayment,
  signCancellation,
  signPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { Wallet } from 'ethers'
import fc from 'fast-check'
import {
  type Address,
  createWalletClient,
  custom,
  type Hex,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  serializeSignature,
  signatureToCompactSignature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, sign } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { typedDataTypes } from '../../../../src/core/typedDataTypes.js'
import {
  cancelOf,
  cancelPageOf,
  captureOf,
  pageOf,
  tokenOf,
  verdictOf,
} from '../../support/settle.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

const token = tokenOf(chain)
const key = generatePrivateKey()
const payer = privateKeyToAccount(key)
const from = payer.address.toLowerCase() as Address
await token.mint(from, 2n ** 100n)

const payments = fc.sample(
  fc
    .record({
      primaryType: fc.constantFrom(
        'ReceiveWithAuthorization',
        'TransferWithAuthorization',
      ),
      value: fc.bigInt(1n, 2n ** 90n),
      validAfter: fc.bigInt(0n, 1_700_000_000n),
      validBefore: fc.bigInt(4_000_000_000n, 2n ** 256n - 1n),
      nonce: fc.bigInt(0n, 2n ** 256n - 1n),
    })
    .map(
      ({ primaryType, nonce, ...message }): Payment => ({
        primaryType,
        domain: token.domain,
        message: {
          from,
          to: chain.clients.merchant.account.address.toLowerCase() as Address,
          ...message,
          nonce: numberToHex(nonce, { size: 32 }),
        },
      }),
    ),
  { seed: 3009, numRuns: 16 },
)
const named = payments.map((payment, index) => [index, payment] as const)

type Provider = {
  request(args: { method: string; params?: unknown }): Promise<unknown>
}

/** An EIP-1193 wallet whose signing code is MetaMask's own. */
function sigUtilWallet(change = (signature: Hex) => signature): Provider {
  return {
    async request({ method, params }) {
      if (method === 'eth_chainId') return numberToHex(chain.chain.id)
      if (method !== 'eth_signTypedData_v4') throw { code: 4200 }
      const [account, json] = params as [string, string]
      if (account.toLowerCase() !== from) throw { code: 4100 }
      return change(
        signTypedData({
          privateKey: Buffer.from(key.slice(2), 'hex'),
          data: JSON.parse(json),
          version: SignTypedDataVersion.V4,
        }) as Hex,
      )
    },
  }
}

/** A wallet client of viem over such a wallet. */
const sigUtilClient = createWalletClient({
  account: payer.address,
  chain: chain.chain,
  transport: custom(sigUtilWallet()),
})
const viemClient = createWalletClient({
  account: payer,
  chain: chain.chain,
  transport: custom({ request: () => Promise.reject(new Error('not asked')) }),
})

function signWithEthers({
  primaryType,
  domain,
  message,
}: Payment | Cancellation): Promise<string> {
  const types = { [primaryType]: [...typedDataTypes[primaryType]] }
  return new Wallet(key).signTypedData(domain, types, message)
}

function signDigest(payment: Payment): Promise<Hex> {
  return sign({ hash: hashPayment(payment), privateKey: key, to: 'hex' })
}

async function signEach(payment: Payment): Promise<SignedPayment[]> {
  const expectation = { payment, expect: pageOf(payment) }
  const signature = (await signWithEthers(payment)) as Hex
  return [
    await signPayment(viemClient, expectation),
    { ...payment, signature },
    await signPayment(sigUtilWallet(), expectation),
    await signPayment(sigUtilClient, expectation),
  ]
}

test.each(named)(
  'viem, ethers and MetaMask sign payment %i alike, and it is captured',
  async (_, payment) => {
    const [first, ...others] = await signEach(payment)
    if (!first) throw new Error('nobody signed')

    expect(others).toEqual(others.map(() => first))
    expect(first.signature).toBe(
      await sign({ hash: hashPayment(payment), privateKey: key, to: 'hex' }),
    )
    expect(await verdictOf(chain, first)).toBe('ok')
    expect(await captureOf(chain, first)).toBe('captured')
  },
)

test.each(named.slice(0, 6))(
  'viem, ethers and MetaMask sign the cancellation of payment %i alike, and it is canceled',
  async (_, captured) => {
    const payment = withNonce(captured, generatePrivateKey())
    const cancellation = buildCancellation({ payment })
    const given = { cancellation, expect: cancelPageOf(cancellation) }
    const signed = await signCancellation(viemClient, given)

    expect(await signCancellation(sigUtilWallet(), given)).toEqual(signed)
    expect(await signCancellation(sigUtilClient, given)).toEqual(signed)
    expect(await signWithEthers(cancellation)).toBe(signed.signature)
    expect(await cancelOf(chain, signed, payment)).toBe('canceled')
  },
)

const forms: Record<string, (signature: Hex) => Hex> = {
  'v 0 or 1': (signature) =>
    `0x${signature.slice(2, 130)}0${Number(`0x${signature.slice(130)}`) - 27}`,
  'EIP-2098': (signature) =>
    serializeCompactSignature(
      signatureToCompactSignature(parseSignature(signature)),
    ),
  'a high s': (signature) => {
    const { r, s, yParity } = parseSignature(signature)
    const order =
      0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    return serializeSignature({
      r,
      s: numberToHex(order - BigInt(s), { size: 32 }),
      yParity: 1 - yParity,
    })
  },
  'upper case': (signature) => `0x${signature.slice(2).toUpperCase()}`,
}

test.each(Object.entries(forms))(
  'a wallet that answers with %s is captured and canceled all the same',
  async (_, form) => {
    const [captured, canceled] = payments.slice(0, 2).map(fresh)
    if (!captured || !canceled) throw new Error('no payments')
    const wallet = sigUtilWallet(form)
    const signed = await signPayment(wallet, {
      payment: captured,
      expect: pageOf(captured),
    })
    const unsigned = buildCancellation({ payment: canceled })
    const cancellation = await signCancellation(wallet, {
      cancellation: unsigned,
      expect: cancelPageOf(unsigned),
    })

    expect(await verdictOf(chain, signed)).toBe('ok')
    expect(await captureOf(chain, signed)).toBe('captured')
    expect(await cancelOf(chain, cancellation, canceled)).toBe('canceled')
  },
)

test.each(Object.entries(forms))(
  'a merchant who is handed %s past signPayment captures it all the same',
  async (_, form) => {
    const [payment] = payments.slice(0, 1).map(fresh)
    if (!payment) throw new Error('no payment')
    const plain = await signDigest(payment)
    const signed = { ...payment, signature: form(plain) }

    expect(signed.signature).not.toBe(plain)
    expect(await verdictOf(chain, signed)).toBe('ok')
    expect(await captureOf(chain, signed)).toBe('captured')
  },
)

function fresh(payment: Payment): Payment {
  return withNonce(payment, generatePrivateKey())
}

function withNonce(payment: Payment, nonce: Hex): Payment {
  return { ...payment, message: { ...payment.message, nonce } }
}
