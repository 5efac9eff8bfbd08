import type {
  Abi,
  AbiParametersToPrimitiveTypes,
  ExtractAbiEventNames,
  ExtractAbiFunction,
  ExtractAbiFunctionNames,
  TypedData,
  TypedDataDomain,
  TypedDataToPrimitiveTypes,
} from 'abitype'
import {
  type BuildPaymentParameters,
  buildPayment,
  type CancelAuthorization,
  type Cancellation,
  eip3009Abi,
  formatAmount,
  type Payment,
  type PaymentAuthorization,
  type PrimaryType,
  parseAmount,
  type SignedPayment,
  type TokenDomain,
  verifyPayment,
} from 'countersign'
import type { Client, Hex } from 'viem'
import { expectTypeOf, test } from 'vitest'
import { typedDataTypes } from '../../src/core/typedDataTypes.js'

type Messages = TypedDataToPrimitiveTypes<typeof typedDataTypes>

test('the typed-data table and the ABI are what abitype accepts', () => {
  expectTypeOf(typedDataTypes).toExtend<TypedData>()
  expectTypeOf(eip3009Abi).toExtend<Abi>()
})

test('the message types are what the table says', () => {
  expectTypeOf<
    Messages['ReceiveWithAuthorization']
  >().toEqualTypeOf<PaymentAuthorization>()
  expectTypeOf<
    Messages['TransferWithAuthorization']
  >().toEqualTypeOf<PaymentAuthorization>()
  expectTypeOf<
    Messages['CancelAuthorization']
  >().toEqualTypeOf<CancelAuthorization>()
})

test('the primary types are those of the table, save the domain', () => {
  expectTypeOf<
    PrimaryType | Cancellation['primaryType'] | 'EIP712Domain'
  >().toEqualTypeOf<keyof typeof typedDataTypes>()
})

test('a domain is one of abitype, with the members of the table', () => {
  expectTypeOf<TokenDomain>().toExtend<TypedDataDomain>()
  expectTypeOf<keyof TokenDomain>().toEqualTypeOf<
    keyof Messages['EIP712Domain']
  >()
})

type Inputs<name extends ExtractAbiFunctionNames<typeof eip3009Abi>> =
  AbiParametersToPrimitiveTypes<
    ExtractAbiFunction<typeof eip3009Abi, name>['inputs']
  >
type Words = readonly [Hex, Hex, bigint, bigint, bigint, Hex]

test('the functions take the members of the message and a signature', () => {
  expectTypeOf<Inputs<'receiveWithAuthorization'>>().toEqualTypeOf<
    readonly [...Words, number, Hex, Hex] | readonly [...Words, Hex]
  >()
  expectTypeOf<Inputs<'transferWithAuthorization'>>().toEqualTypeOf<
    Inputs<'receiveWithAuthorization'>
  >()
  expectTypeOf<Inputs<'cancelAuthorization'>>().toEqualTypeOf<
    readonly [Hex, Hex, number, Hex, Hex] | readonly [Hex, Hex, Hex]
  >()
})

test('the ABI names what the standard names', () => {
  expectTypeOf<ExtractAbiFunctionNames<typeof eip3009Abi>>().toEqualTypeOf<
    | 'transferWithAuthorization'
    | 'receiveWithAuthorization'
    | 'cancelAuthorization'
    | 'authorizationState'
  >()
  expectTypeOf<ExtractAbiEventNames<typeof eip3009Abi>>().toEqualTypeOf<
    'AuthorizationUsed' | 'AuthorizationCanceled' | 'Transfer'
  >()
})

declare const order: BuildPaymentParameters
declare const client: Client
declare const payment: SignedPayment
declare const { token, to }: { token: Hex; to: Hex }

test('another primary type does not compile', () => {
  // @ts-expect-error
  buildPayment({ ...order, primaryType: 'CancelAuthorization' })
  // @ts-expect-error
  buildPayment({ ...order, primaryType: 'Permit' })
  const expect = { token, to, amount: '1' }
  verifyPayment(client, {
    payment,
    // @ts-expect-error
    expect: { ...expect, primaryType: 'Permit' },
  })
})

test('an amount that is a number does not compile', () => {
  // @ts-expect-error
  buildPayment({ ...order, amount: 12.5 })
  // @ts-expect-error
  buildPayment({ ...order, amount: 12_500_000n })
  // @ts-expect-error
  verifyPayment(client, { payment, expect: { token, to, amount: 12.5 } })
  // @ts-expect-error
  parseAmount(12.5)
  // @ts-expect-error
  formatAmount(12)
})

test('a domain without its chain id does not compile', () => {
  const domain = { name: 'USD Coin', version: '2', verifyingContract: token }
  // @ts-expect-error
  buildPayment({ ...order, domain })
  // @ts-expect-error
  buildPayment({ ...order, domain: { ...domain, chainId: 1n } })
  buildPayment({ ...order, domain: { ...domain, chainId: 1 } })
})

test('time in numbers and a payment without a signature do not compile', () => {
  // @ts-expect-error
  buildPayment({ ...order, now: 1_750_000_000 })
  // @ts-expect-error
  buildPayment({ ...order, validBefore: '1750000000' })
  const unsigned: Payment = payment
  const expect = { token, to, amount: '1' }
  // @ts-expect-error
  verifyPayment(client, { payment: unsigned, expect })
})
