import { type PaymentKind, verifyPayment } from 'countersign'
import { checkout, permitCheckout } from 'countersign/checkout'
import type { CreateOrdersParameters } from 'countersign/orders'
import {
  type SpendPermissions,
  spendPermissions,
} from 'countersign/subscriptions'
import type { Client } from 'viem'
import { expectTypeOf, test } from 'vitest'

type Kind = NonNullable<CreateOrdersParameters['kinds']>[number]

test('orders take kinds that payers sign and kinds that nobody signs one by one', () => {
  expectTypeOf([checkout, permitCheckout]).toExtend<Kind[]>()
  expectTypeOf<SpendPermissions>().toExtend<Kind>()
})

test('the types of a kind have only the members that it supports', () => {
  expectTypeOf<SpendPermissions>().not.toExtend<PaymentKind>()
  expectTypeOf<
    keyof SpendPermissions & ('parse' | 'typedData' | 'encodeCapture')
  >().toBeNever()
  const verify = (client: Client) =>
    verifyPayment(client, {
      payment: undefined as never,
      expect: undefined as never,
      // @ts-expect-error nobody signs a charge
      kind: spendPermissions(),
    })
  expectTypeOf(verify).toBeFunction()
})
