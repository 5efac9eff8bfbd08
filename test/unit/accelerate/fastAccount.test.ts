import { loadAccelerator } from 'countersign/accelerate'
import fc from 'fast-check'
import type {
  AuthorizationRequest,
  Hex,
  SignableMessage,
  TransactionSerializable,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { celo } from 'viem/chains'
import { expect, test } from 'vitest'
import { paymentTypedData } from '../../../src/payments/message/paymentTypedData.js'
import { cancellation, hex, payment, runs } from '../support/arbitraries.js'

const { fastAccount, recoverAddress } = await loadAccelerator()

const order =
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Keys near both ends too, where a carry would be lost. */
const key = (): fc.Arbitrary<Hex> =>
  fc
    .oneof(
      fc.bigInt({ min: 1n, max: order - 1n }),
      fc.constantFrom(1n, 2n, order - 2n, order - 1n),
    )
    .map((secret): Hex => `0x${secret.toString(16).padStart(64, '0')}`)

const some = <value>(arbitrary: fc.Arbitrary<value>) =>
  fc.option(arbitrary, { nil: undefined })
const data = (): fc.Arbitrary<Hex> => fc.nat({ max: 700 }).chain(hex)
const wei = () => fc.bigInt({ min: 0n, max: 2n ** 128n })
const chainId = () => fc.integer({ min: 1, max: 2 ** 40 })
const nonce = () => fc.nat({ max: 2 ** 40 })

const common = {
  chainId: chainId(),
  nonce: nonce(),
  gas: wei(),
  to: hex(20),
  value: some(wei()),
  data: some(data()),
}
const accessList = fc.array(
  fc.record({ address: hex(20), storageKeys: fc.array(hex(32)) }),
  { maxLength: 4 },
)
/** The priority fee is never above the whole. */
const fees = {
  maxFeePerGas: fc.constant(2n ** 130n),
  maxPriorityFeePerGas: wei(),
}

const types: Record<string, fc.Arbitrary<object>> = {
  legacy: fc.record({
    ...common,
    chainId: some(chainId()),
    to: some(hex(20)),
    gasPrice: wei(),
  }),
  eip2930: fc.record({ ...common, gasPrice: wei(), accessList }),
  eip1559: fc.record({ ...common, ...fees, accessList: some(accessList) }),
  eip4844: fc.record({
    ...common,
    ...fees,
    maxFeePerBlobGas: wei(),
    blobVersionedHashes: fc.array(
      hex(31).map((rest): Hex => `0x01${rest.slice(2)}`),
      { minLength: 1, maxLength: 6 },
    ),
    sidecars: fc.constantFrom(undefined, false as const),
  }),
  eip7702: fc.record({
    ...common,
    ...fees,
    authorizationList: fc.array(
      fc.record({
        address: hex(20),
        chainId: fc.nat(),
        nonce: nonce(),
        r: hex(32),
        s: hex(32),
        yParity: fc.constantFrom(0, 1),
      }),
      { maxLength: 3 },
    ),
  }),
}

test.each(Object.entries(types))(
  'a thousand %s transactions are signed to the byte as viem signs them',
  async (type, fields) => {
    await fc.assert(
      fc.asyncProperty(key(), fields, async (secret, given) => {
        const transaction = { ...given, type } as TransactionSerializable
        const own = await fastAccount(secret).signTransaction(transaction)
        const viem = privateKeyToAccount(secret)
        expect(own).toBe(await viem.signTransaction(transaction))
      }),
      runs(1_000),
    )
  },
)

test('blobs travel beside what is signed, as with viem', async () => {
  const blob: Hex = `0x${'01'.repeat(4096)}`
  const proof: Hex = `0x${'02'.repeat(48)}`
  const transaction = {
    type: 'eip4844',
    chainId: 1,
    maxFeePerGas: 3n,
    maxPriorityFeePerGas: 2n,
    maxFeePerBlobGas: 1n,
    to: `0x${'03'.repeat(20)}`,
    blobVersionedHashes: [`0x01${'04'.repeat(31)}`],
    sidecars: [{ blob, commitment: proof, proof }],
  } as const
  const secret: Hex = `0x${'05'.repeat(32)}`
  expect(await fastAccount(secret).signTransaction(transaction)).toBe(
    await privateKeyToAccount(secret).signTransaction(transaction),
  )
})

test("a chain's own serializer is used, as by viem", async () => {
  const serializer = celo.serializers.transaction
  const transaction = {
    type: 'cip64',
    chainId: celo.id,
    feeCurrency: `0x${'06'.repeat(20)}`,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
    to: `0x${'07'.repeat(20)}`,
  } as const
  const secret: Hex = `0x${'08'.repeat(32)}`
  const own = await fastAccount(secret).signTransaction(transaction as never, {
    serializer: serializer as never,
  })
  expect(own).toMatch(/^0x7b/)
  expect(own).toBe(
    await privateKeyToAccount(secret).signTransaction(transaction as never, {
      serializer: serializer as never,
    }),
  )
})

test('typed data of payments and cancellations is signed as viem signs it', async () => {
  const message = fc.oneof(payment(), cancellation())
  await fc.assert(
    fc.asyncProperty(key(), message, async (secret, signed) => {
      const typedData = paymentTypedData(signed) as never
      expect(await fastAccount(secret).signTypedData(typedData)).toBe(
        await privateKeyToAccount(secret).signTypedData(typedData),
      )
    }),
    runs(1_000),
  )
})

test('digests, messages and EIP-7702 authorizations are signed as viem signs them', async () => {
  const message: fc.Arbitrary<SignableMessage> = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    data().map((raw) => ({ raw })),
    fc.uint8Array().map((raw) => ({ raw })),
  )
  const request: fc.Arbitrary<AuthorizationRequest> = fc.oneof(
    fc.record({ address: hex(20), chainId: fc.nat(), nonce: nonce() }),
    fc.record({ contractAddress: hex(20), chainId: fc.nat(), nonce: nonce() }),
  )
  await fc.assert(
    fc.asyncProperty(
      key(),
      hex(32),
      message,
      request,
      async (secret, hash, text, authorization) => {
        const own = fastAccount(secret)
        const viem = privateKeyToAccount(secret)
        const signature = await own.sign({ hash })
        expect(signature).toBe(await viem.sign({ hash }))
        expect(await own.signMessage({ message: text })).toBe(
          await viem.signMessage({ message: text }),
        )
        expect(await own.signAuthorization(authorization)).toEqual(
          await viem.signAuthorization(authorization),
        )
        expect(recoverAddress({ hash, signature })).toBe(
          own.address.toLowerCase(),
        )
      },
    ),
    runs(1_000),
  )
})

test("the account has the members, the address and the key of viem's", () => {
  fc.assert(
    fc.property(key(), (secret) => {
      const own = fastAccount(secret)
      const viem = privateKeyToAccount(secret)
      expect(Object.keys(own).sort()).toEqual(Object.keys(viem).sort())
      expect(own).toMatchObject({
        address: viem.address,
        publicKey: viem.publicKey,
        source: 'privateKey',
        type: 'local',
      })
    }),
    runs(200),
  )
})

test('a malformed private key is refused, and the error shows none of it', () => {
  const bad: readonly unknown[] = [
    undefined,
    7,
    'ab'.repeat(32),
    `0x${'ab'.repeat(31)}`,
    `0x${'ab'.repeat(33)}`,
    `0x${'zz'.repeat(32)}`,
    `0x${'00'.repeat(32)}`,
    `0x${order.toString(16)}`,
    `0x${'ff'.repeat(32)}`,
  ]
  for (const secret of bad) {
    const make = () => fastAccount(secret as Hex)
    expect(make).toThrow(/^privateKey must be the 32 bytes of a private key/)
    expect(make).not.toThrow(/abab|zzzz|ffff|00000/)
  }
})
