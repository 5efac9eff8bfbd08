import { inspect } from 'node:util'
import {
  concatHex,
  createWalletClient,
  custom,
  type Hex,
  hashTypedData,
  numberToHex,
  recoverAddress,
  serializeSignature,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { InvalidAmountError, InvalidFieldError } from '../../core/errors.js'
import { hashPayment } from '../../core/hashPayment.js'
import type { Payment } from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { paymentTypedData } from '../message/paymentTypedData.js'
import {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from './errors.js'
import {
  type SignPaymentExpectation,
  type SignPaymentParameters,
  signPayment,
} from './signPayment.js'

const privateKey: Hex = `0x${'7'.repeat(64)}`
const account = privateKeyToAccount(privateKey)
const payer = account.address.toLowerCase() as Hex
const payment = samplePayment({ from: payer })
const expectation: SignPaymentExpectation = {
  chainId: 8453,
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bDA02913',
  to: payment.message.to,
  amount: '12.50',
}
const parameters: SignPaymentParameters = { payment, expect: expectation }

type Request = { method: string; params?: unknown }

/** A wallet that notes what it is asked and signs with the payer's key. */
function fakeWallet(
  answer: (payload: unknown) => unknown = (payload) =>
    sign({ hash: hashTypedData(payload as never), privateKey, to: 'hex' }),
  chainId: unknown = '0x2105',
): { requests: Request[]; request(args: Request): Promise<unknown> } {
  const requests: Request[] = []
  return {
    requests,
    request: async (args) => {
      requests.push({ method: args.method, params: args.params })
      if (args.method === 'eth_chainId') return chainId
      if (args.method !== 'eth_signTypedData_v4')
        throw new Error(`unexpected ${args.method}`)
      const [, payload] = args.params as [string, string]
      return answer(JSON.parse(payload))
    },
  }
}

const failing = (error: unknown) =>
  fakeWallet(() => {
    throw error
  })

const signing = (signature: unknown) => fakeWallet(() => signature)

const asked = ({ requests }: { requests: Request[] }): Request[] =>
  requests.filter(({ method }) => method === 'eth_signTypedData_v4')

async function signatureOf(): Promise<Hex> {
  return sign({ hash: hashPayment(payment), privateKey, to: 'hex' })
}

test('a local account signs the digest of the payment', async () => {
  const signed = await signPayment({ account, request: refuse }, parameters)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
  const { signature } = signed
  const hash = hashPayment(payment)
  expect(await recoverAddress({ hash, signature })).toBe(account.address)
})

const refuse = (): never => {
  throw new Error('nothing may be asked')
}

test('a viem wallet client with a local account asks no node', async () => {
  const transport = custom({ request: async () => refuse() })
  const wallet = createWalletClient({ account, transport })
  const signed = await signPayment(wallet, parameters)
  expect(signed.signature).toBe(await signatureOf())
})

test('a viem wallet client of a browser wallet gives the same', async () => {
  const wallet = createWalletClient({
    account: account.address,
    transport: custom(fakeWallet()),
  })
  const signed = await signPayment(wallet, parameters)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
})

test('a viem wallet client without an account signs as the payer', async () => {
  const provider = fakeWallet()
  const wallet = createWalletClient({ transport: custom(provider) })
  await signPayment(wallet, parameters)
  expect(asked(provider)[0]?.params).toEqual([payer, expect.any(String)])
})

test('a bare provider is asked for exactly one chain id and one signature', async () => {
  const wallet = fakeWallet()
  const signed = await signPayment(wallet, parameters)
  const payload = expect.any(String)
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
  expect(wallet.requests).toEqual([
    { method: 'eth_chainId', params: undefined },
    { method: 'eth_signTypedData_v4', params: [payer, payload] },
  ])
})

test('the wallet gets the complete typed data', async () => {
  const wallet = fakeWallet()
  await signPayment(wallet, parameters)
  const [request] = asked(wallet)
  const [, payload] = (request?.params ?? []) as [string, string]
  expect(JSON.parse(payload)).toEqual(paymentTypedData(payment))
  expect(payload).toContain('"EIP712Domain"')
  expect(payload).toContain('"value":"12500000"')
  expect(payload).toContain('"chainId":8453')
})

test('a Transfer payment is signed as such', async () => {
  const transfer = samplePayment({
    from: payer,
    primaryType: 'TransferWithAuthorization',
  })
  const signed = await signPayment(fakeWallet(), {
    payment: transfer,
    expect: { ...expectation, primaryType: transfer.primaryType },
  })
  const signer = await recoverAddress({
    hash: hashPayment(transfer),
    signature: signed.signature,
  })
  expect(signer).toBe(account.address)
})

test('a signature that came with the payment is not kept', async () => {
  const stale = { ...payment, signature: `0x${'12'.repeat(65)}` as const }
  const { signature } = await signPayment(fakeWallet(), {
    payment: stale,
    expect: expectation,
  })
  expect(signature).toBe(await signatureOf())
})

test.each<[string, Partial<SignPaymentExpectation>]>([
  ['chainId', { chainId: 84532 }],
  ['chainId', { chainId: undefined as unknown as number }],
  ['token', { token: `0x${'4'.repeat(40)}` }],
  ['to', { to: `0x${'4'.repeat(40)}` }],
  ['value', { amount: '12.51' }],
  ['value', { amount: '12.5', decimals: 18 }],
  ['window', { maxWindow: 959n }],
  ['window', { maxWindow: 0n }],
])(
  'an unexpected %s stops before the wallet is asked: %o',
  async (field, fields) => {
    const wallet = fakeWallet()
    const error = await signPayment(wallet, {
      payment,
      expect: { ...expectation, ...fields },
      now: payment.message.validAfter,
    }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnexpectedPaymentError)
    expect(error).toHaveProperty(
      'details.field',
      field === 'value' ? expect.stringMatching(/value|amount/) : field,
    )
    expect(wallet.requests).toEqual([])
  },
)

const start = payment.message.validAfter
const day = 86_400n

test.each([
  ['in 2100', 4_102_444_800n, 4_102_445_700n],
  ['without an end', start, 2n ** 256n - 1n],
  ['of a second more than a day', start, start + day + 1n],
])(
  'without a limit of the page a window %s is not signed',
  async (_, validAfter, validBefore) => {
    const wallet = fakeWallet()
    const given = samplePayment({ from: payer, validAfter, validBefore })
    const signing = signPayment(wallet, {
      payment: given,
      expect: expectation,
      now: start,
    })
    await expect(signing).rejects.toMatchObject({
      name: 'UnexpectedPaymentError',
      details: { field: 'window' },
    })
    expect(wallet.requests).toEqual([])
  },
)

test('a window that ends in a day is signed, and a longer one if the page says so', async () => {
  const ending = (validBefore: bigint) =>
    samplePayment({ from: payer, validAfter: 0n, validBefore })
  const now = start
  const aDay = { payment: ending(start + day), expect: expectation, now }
  expect(await signPayment(fakeWallet(), aDay)).toMatchObject(aDay.payment)
  const longer = {
    payment: ending(start + 30n * day),
    expect: { ...expectation, maxWindow: 30n * day },
    now,
  }
  expect(await signPayment(fakeWallet(), longer)).toMatchObject(longer.payment)
})

test('the window is measured from the wall clock, and a time that is no bigint is refused', async () => {
  const wallet = fakeWallet()
  const wall = BigInt(Math.floor(Date.now() / 1000))
  const late = samplePayment({ from: payer, validBefore: wall + 2n * day })
  await expect(
    signPayment(wallet, { payment: late, expect: expectation }),
  ).rejects.toMatchObject({ details: { field: 'window' } })
  await expect(
    signPayment(wallet, { ...parameters, now: 5 as unknown as bigint }),
  ).rejects.toMatchObject({ details: { field: 'now' } })
  expect(wallet.requests).toEqual([])
})

test.each([
  ['ReceiveWithAuthorization', 'TransferWithAuthorization'],
  ['TransferWithAuthorization', 'ReceiveWithAuthorization'],
  [undefined, 'TransferWithAuthorization'],
] as const)('a page that expects %s signs no %s', async (expected, found) => {
  const wallet = fakeWallet()
  await expect(
    signPayment(wallet, {
      payment: samplePayment({ from: payer, primaryType: found }),
      expect: { ...expectation, primaryType: expected },
    }),
  ).rejects.toMatchObject({
    name: 'UnexpectedPaymentError',
    details: { field: 'primaryType', found },
  })
  expect(wallet.requests).toEqual([])
})

const otherToken = `0x${'4'.repeat(40)}` as const

test.each([
  ['name', 'Sign in to shop.example', {}],
  ['version', '1', {}],
  ['name', 'USD Coin', { name: 'USDC' }],
  ['version', '2', { version: '1' }],
] as const)(
  'the %s of a known token must not be %s if the page says %o',
  async (field, found, said) => {
    const wallet = fakeWallet()
    await expect(
      signPayment(wallet, {
        payment: samplePayment({ from: payer, domain: { [field]: found } }),
        expect: { ...expectation, ...said },
      }),
    ).rejects.toMatchObject({
      name: 'UnexpectedPaymentError',
      details: { field, found },
    })
    expect(wallet.requests).toEqual([])
  },
)

test('a signature in place of a name does not reach the error', async () => {
  const name = `0x${'5ec2e7'.repeat(21)}0a1b1b`
  const given = samplePayment({ from: payer, domain: { name } })
  const error = await signPayment(fakeWallet(), {
    payment: given,
    expect: expectation,
  }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ details: { field: 'name' } })
  expect(inspect(error, { depth: 9 })).not.toContain('5ec2e75ec2e7')
})

test('the page may name its token, and must where no other name is to be signed', async () => {
  const domain = { name: 'Shop Coin', verifyingContract: otherToken }
  const given = samplePayment({ from: payer, domain })
  const sign = (name?: string) =>
    signPayment(fakeWallet(), {
      payment: given,
      expect: { ...expectation, token: otherToken, name },
    })
  expect(await sign('Shop Coin')).toMatchObject(given)
  expect(await sign()).toMatchObject(given)
  await expect(sign('Other Coin')).rejects.toMatchObject({
    details: { field: 'name' },
  })
})

test.each(['payer', 'recipient', 'Amount', 'maxwindow', 'from'])(
  'an expectation with the unknown member %s is refused, not ignored',
  async (name) => {
    const wallet = fakeWallet()
    await expect(
      signPayment(wallet, {
        payment,
        expect: { ...expectation, [name]: payer },
      }),
    ).rejects.toMatchObject({
      name: 'InvalidFieldError',
      message: expect.stringContaining(name),
      details: {
        field: 'expect',
        expected: expect.stringContaining('primaryType'),
      },
    })
    expect(wallet.requests).toEqual([])
  },
)

test('what a signer does to the object it gets changes nothing of what is returned, nor what others sign', async () => {
  const vandal = {
    ...account,
    signTypedData: async (payload: never) => {
      const signature = await account.signTypedData(payload)
      const { domain, message, types } = Object(payload)
      domain.name = 'Other'
      message.value = 1n
      types.EIP712Domain.length = 0
      types.ReceiveWithAuthorization[0].name = 'thief'
      return signature
    },
  }
  const wallet = {
    account: vandal as unknown as typeof account,
    request: refuse,
  }
  const expected = { ...payment, signature: await signatureOf() }
  expect(await signPayment(wallet, parameters)).toEqual(expected)
  expect(await signPayment(wallet, parameters)).toEqual(expected)
})

test.each<[string, Partial<Record<keyof SignPaymentExpectation, unknown>>]>([
  ['token', { token: undefined }],
  ['token', { token: '0x12' }],
  ['to', { to: undefined }],
  ['to', { to: ['0x2222222222222222222222222222222222222222'] }],
])('an expectation without a %s is refused: %o', async (field, fields) => {
  const wallet = fakeWallet()
  const given = { ...expectation, ...fields } as SignPaymentExpectation
  const error = await signPayment(wallet, { payment, expect: given }).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', expect.stringContaining(field))
  expect(wallet.requests).toEqual([])
})

test.each([12.5, '12,5', '-12.5', undefined])(
  'an expected amount of %o is refused',
  async (amount) => {
    const wallet = fakeWallet()
    const given = { ...expectation, amount: amount as string }
    await expect(
      signPayment(wallet, { payment, expect: given }),
    ).rejects.toBeInstanceOf(InvalidAmountError)
    expect(wallet.requests).toEqual([])
  },
)

test('without any expectation the wallet is not asked', async () => {
  const wallet = fakeWallet()
  const bare = { payment } as SignPaymentParameters
  await expect(signPayment(wallet, bare)).rejects.toBeInstanceOf(
    InvalidFieldError,
  )
  expect(wallet.requests).toEqual([])
})

test('no window is within a limit that is no number', async () => {
  const wallet = fakeWallet()
  const maxWindow = Number.NaN as unknown as bigint
  await expect(
    signPayment(wallet, { payment, expect: { ...expectation, maxWindow } }),
  ).rejects.toMatchObject({ name: 'UnexpectedPaymentError' })
  expect(wallet.requests).toEqual([])
})

test.each([
  null,
  {},
  samplePayment({ value: 12 as unknown as bigint }),
  samplePayment({ nonce: '0x12' }),
  { ...payment, extra: 1 },
])('a malformed payment is refused: %o', async (given) => {
  const wallet = fakeWallet()
  await expect(
    signPayment(wallet, { payment: given as Payment, expect: expectation }),
  ).rejects.toBeInstanceOf(InvalidFieldError)
  expect(wallet.requests).toEqual([])
})

test('a window as long as expected is signed, and letter case does not matter', async () => {
  const signed = await signPayment(fakeWallet(), {
    payment: samplePayment({ from: account.address }),
    expect: { ...expectation, maxWindow: 960n },
    now: payment.message.validAfter,
  })
  expect(signed).toEqual({ ...payment, signature: await signatureOf() })
})

test.each(['0x1', '0x14a34', 1, null, '', {}, 'nonsense'])(
  'a wallet on chain %o signs nothing',
  async (chainId) => {
    const wallet = fakeWallet(undefined, chainId)
    const error = await signPayment(wallet, parameters).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(WrongWalletError)
    expect(error).toHaveProperty('details.field', 'chainId')
    expect(asked(wallet)).toEqual([])
  },
)

test('a chain id as a number is understood', async () => {
  const signed = await signPayment(fakeWallet(undefined, 8453), parameters)
  expect(signed.signature).toBe(await signatureOf())
})

const stranger = privateKeyToAccount(`0x${'8'.repeat(64)}`)

test.each([
  ['a local account', stranger],
  ['an address', stranger.address],
])('%s of someone else signs nothing', async (_, other) => {
  const wallet = { ...fakeWallet(), account: other }
  const error = await signPayment(wallet, parameters).catch(
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(WrongWalletError)
  expect(error).toHaveProperty('details.field', 'account')
  expect(wallet.requests).toEqual([])
})

const coded = (code: unknown, cause?: unknown): Error =>
  Object.assign(new Error('of the wallet', { cause }), { code })

test.each<[string, unknown]>([
  ['EIP-1193', coded(4001)],
  ['WalletConnect', coded(5000)],
  ['a plain object', { code: 4001, message: 'User rejected' }],
  ['a cause', new Error('outer', { cause: coded(4001) })],
  ['a cause of a cause', coded(-32603, new Error('b', { cause: coded(4001) }))],
])('a user who declines by %s is named as such', async (_, error) => {
  const wallet = failing(error)
  await expect(signPayment(wallet, parameters)).rejects.toBeInstanceOf(
    SigningDeclinedError,
  )
  const transport = custom(failing(error), { retryCount: 0 })
  const client = createWalletClient({ transport })
  await expect(signPayment(client, parameters)).rejects.toBeInstanceOf(
    SigningDeclinedError,
  )
})

test('a local account that declines is named as such', async () => {
  const declining = {
    ...account,
    signTypedData: () => Promise.reject(coded(4001)),
  }
  await expect(
    signPayment({ account: declining, request: refuse }, parameters),
  ).rejects.toBeInstanceOf(SigningDeclinedError)
})

test.each<[string, unknown]>([
  ['an internal error', coded(-32603)],
  ['a limit', coded(-32005)],
  ['an unknown error', coded(-1)],
  ['no code', new Error('window closed')],
])(
  'a browser wallet that fails with %s is not asked again',
  async (_, error) => {
    const provider = failing(error)
    // As it comes: a viem client tries most failures three more times.
    const client = createWalletClient({ transport: custom(provider) })
    await expect(signPayment(client, parameters)).rejects.toBeInstanceOf(
      WalletError,
    )
    expect(asked(provider)).toHaveLength(1)
  },
)

test('a wallet whose account is null signs as the payer', async () => {
  const wallet = { ...fakeWallet(), account: null as unknown as undefined }
  await signPayment(wallet, parameters)
  expect(asked(wallet)[0]?.params).toEqual([payer, expect.any(String)])
})

const circular: { cause?: unknown } = {}
circular.cause = circular

test.each<[string, unknown, number | undefined]>([
  ['a code', coded(4100), 4100],
  ['a code in a cause', new Error('outer', { cause: coded(4900) }), 4900],
  ['no code', new Error('broken'), undefined],
  ['text', 'broken', undefined],
  ['nothing', undefined, undefined],
  ['itself as its cause', circular, undefined],
])('a wallet that fails with %s is a wallet error', async (_, error, code) => {
  const thrown = await signPayment(failing(error), parameters).catch(
    (caught: unknown) => caught,
  )
  expect(thrown).toBeInstanceOf(WalletError)
  expect(thrown).toMatchObject({ retryable: true })
  expect((thrown as WalletError).details.code).toBe(code)
})

const secret = `0x${'5ec2e7'.repeat(21)}0a1b1b`

test.each<[string, unknown]>([
  ['in its words', coded(1, new Error(secret))],
  ['as its code', coded(secret)],
  ['as data', Object.assign(coded(2), { data: secret, signature: secret })],
])('an error with the signature %s does not pass it on', async (_, error) => {
  const thrown = await signPayment(failing(error), parameters).catch(
    (caught: unknown) => caught,
  )
  expect(thrown).toBeInstanceOf(WalletError)
  expect(inspect(thrown, { depth: 9 })).not.toContain('5ec2e7')
  expect(JSON.stringify(thrown)).not.toContain('5ec2e7')
})

const body = (r: string, s: string) => `0x${r.repeat(32)}${s.repeat(32)}`

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['no bytes', '0x'],
  ['the empty text', ''],
  ['64 zero bytes', body('00', '00')],
  ['65 zero bytes', `${body('00', '00')}00`],
  ['63 bytes', body('11', '11').slice(0, -2)],
  ['s out of range', `${body('11', 'ff')}1b`],
  ['no hex', `${body('zz', '11')}1b`],
  ['an object', { r: '0x1', s: '0x1', v: 27 }],
  ['an object without text', { toString: 1, valueOf: 1 }],
  ['a list', [`${body('11', '11')}1b`]],
])('an answer that is %s is no signature', async (_, answer) => {
  await expect(signPayment(signing(answer), parameters)).rejects.toBeInstanceOf(
    WalletError,
  )
})

const order =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

test('every form a wallet answers with becomes the one tokens accept', async () => {
  const hash = hashPayment(payment)
  const { r, s, yParity = 0 } = await sign({ hash, privateKey })
  const high = numberToHex(order - BigInt(s), { size: 32 })
  const packed = numberToHex(BigInt(s) + (BigInt(yParity) << 255n), {
    size: 32,
  })
  const normal = serializeSignature({ r, s, yParity })
  const forms = [
    normal,
    normal.toUpperCase().replace('0X', '0x'),
    concatHex([r, s, yParity ? '0x01' : '0x00']),
    concatHex([r, high, yParity ? '0x1b' : '0x1c']),
    concatHex([r, high, yParity ? '0x00' : '0x01']),
    concatHex([r, packed]),
  ]
  for (const form of forms) {
    const { signature } = await signPayment(signing(form), parameters)
    expect(signature).toBe(normal)
  }
})

test("a smart wallet's longer signature passes as it is", async () => {
  const long = `0x${'ab'.repeat(417)}`
  const { signature } = await signPayment(signing(long), parameters)
  expect(signature).toBe(long)
})
