import { inspect } from 'node:util'
import {
  concatHex,
  createWalletClient,
  custom,
  numberToHex,
  serializeSignature,
} from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import { hashPayment } from '../../../../src/core/hashPayment.js'
import {
  SigningDeclinedError,
  WalletError,
  WrongWalletError,
} from '../../../../src/payments/sign/errors.js'
import { signPayment } from '../../../../src/payments/sign/signPayment.js'
import type { Wallet } from '../../../../src/payments/sign/signWithWallet.js'
import {
  account,
  asked,
  fakeWallet,
  parameters,
  payer,
  payment,
  privateKey,
  refuse,
  signatureOf,
} from '../../support/fakeWallet.js'

const failing = (error: unknown) =>
  fakeWallet(() => {
    throw error
  })

const signing = (signature: unknown) => fakeWallet(() => signature)

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
  ['WalletConnect, methods', coded(5001)],
  ['the words of Trezor', new Error('Cancelled')],
  ['its words, with a code', { code: -32603, message: 'Action cancelled.' }],
  ['a plain object', { code: 4001, message: 'User rejected' }],
  ['a cause', new Error('outer', { cause: coded(4001) })],
  ['a cause of a cause', coded(-32603, new Error('b', { cause: coded(4001) }))],
  ['the name that ethers gives', coded('ACTION_REJECTED')],
  [
    'the words of MetaMask',
    {
      code: -32603,
      message: 'MetaMask Message Signature: User denied message signature.',
    },
  ],
  ['words', { code: -32603, message: 'Request was cancelled by the user' }],
  [
    'an original error',
    {
      code: -32603,
      message: 'Internal JSON-RPC error.',
      data: { originalError: { code: 4001 } },
    },
  ],
  [
    'the status of a Ledger',
    Object.assign(new Error('Ledger device: Condition of use not satisfied'), {
      statusCode: 0x6985,
    }),
  ],
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
  const params = [payer, expect.any(String)]
  expect(asked(wallet)[0]?.params).toEqual(params)
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

test.each<[string, unknown, string]>([
  ['0x', '0x', 'answered 0x'],
  ['an object', { r: '0x5ec2e7', s: '0x1', v: 27 }, 'answered object'],
])(
  'a wallet that answers %s is named with the kind, as a Safe that signs on chain does',
  async (_, answer, kind) => {
    const thrown = await signPayment(signing(answer), parameters).catch(
      (caught: unknown) => caught,
    )
    expect(thrown).toMatchObject({ name: 'WalletError', retryable: false })
    expect(String(thrown)).toContain(kind)
    expect(String(thrown)).toContain('Safe that signs on chain')
    expect(inspect(thrown, { depth: 9 })).not.toContain('5ec2e7')
  },
)

const thrownBy = (wallet: Wallet): Promise<unknown> =>
  signPayment(wallet, parameters).catch((thrown: unknown) => thrown)

/** An account that signs with this function of its own, as those of key services do. */
const signingBy = (signTypedData: (typedData: object) => unknown): Wallet => ({
  account: { ...account, signTypedData } as never,
  request: refuse,
})

test('an account that writes typed data as JSON is told of the bigint', async () => {
  const thrown = await thrownBy(
    signingBy(async (typedData) => JSON.stringify(typedData)),
  )
  expect(thrown).toMatchObject({
    name: 'WalletError',
    message:
      'The wallet gave no signature: its account cannot write a bigint as JSON.',
    details: { thrown: 'TypeError' },
    retryable: false,
  })
})

test.each([
  ['of Chromium', 'Do not know how to serialize a BigInt'],
  ['of Firefox', "BigInt value can't be serialized in JSON"],
  ['of Safari', 'JSON.stringify cannot serialize BigInt.'],
])('the words %s about a bigint are understood', async (_, words) => {
  const thrown = await thrownBy(failing(new TypeError(words)))
  expect(String(thrown)).toContain('cannot write a bigint as JSON')
})

test.each<Error>([
  new TypeError(secret),
  new RangeError(secret),
  new SyntaxError(`Cannot convert ${secret} to a BigInt`),
  new ReferenceError(secret),
  new Error('outer', { cause: new TypeError(secret) }),
])(
  'a mistake in the code of a signer is named by its class, without its words',
  async (mistake) => {
    const { name } = Object(mistake.cause ?? mistake)
    for (const wallet of [
      failing(mistake),
      signingBy(() => {
        throw mistake
      }),
    ]) {
      const thrown = await thrownBy(wallet)
      expect(thrown).toMatchObject({
        name: 'WalletError',
        message: `The wallet gave no signature: it threw a ${name}.`,
        details: { thrown: name },
        retryable: true,
      })
      expect(inspect(thrown, { depth: 9 })).not.toContain('5ec2e7')
    }
  },
)

test('a name of its own is not passed on, because it may be a secret', async () => {
  const named = Object.assign(new Error('broken'), {
    name: secret.slice(2, 46),
  })
  const thrown = await thrownBy(failing(named))
  expect(thrown).toMatchObject({ message: 'The wallet gave no signature.' })
  expect(inspect(thrown, { depth: 9 })).not.toContain('5ec2e7')
})

test('a code says more than the class', async () => {
  const coded = Object.assign(new TypeError('locked'), { code: 4100 })
  expect(await thrownBy(failing(coded))).toMatchObject({
    message:
      'The wallet gave no signature: it is locked, or does not share this account.',
  })
})
