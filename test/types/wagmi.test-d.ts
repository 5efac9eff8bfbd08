import {
  MutationObserver,
  QueryClient,
  QueryObserver,
} from '@tanstack/query-core'
import type { Config } from '@wagmi/core'
import type { BuyerState } from 'countersign/client'
import {
  type CanceledOrder,
  cancelPaymentMutationOptions,
  type GetOrderQueryKey,
  getOrder,
  getOrderQueryKey,
  getOrderQueryOptions,
  type SignOrderPaymentParameters,
  signPaymentMutationOptions,
  useCancelPayment,
  useOrder,
  useSignPayment,
} from 'countersign/wagmi'
import { expectTypeOf, test } from 'vitest'

declare const config: Config
const order = { url: '/payments', orderId: '1', buyerToken: 'ab' }
const queries = new QueryClient()

test('an action returns the same as the buyer’s client', () => {
  expectTypeOf(getOrder).returns.resolves.toEqualTypeOf<BuyerState>()
})

test('options of a query fit an observer, and select says what it gives', () => {
  const options = getOrderQueryOptions(config, {
    ...order,
    query: { select: ({ state }) => state, staleTime: 5 },
  })
  const observer = new QueryObserver(queries, options)
  expectTypeOf(observer.getCurrentResult().data).toEqualTypeOf<
    BuyerState['state'] | undefined
  >()
  expectTypeOf(getOrderQueryKey(order)).toEqualTypeOf<GetOrderQueryKey>()
})

test('options of a mutation fit an observer', () => {
  const paying = new MutationObserver(
    queries,
    signPaymentMutationOptions(config),
  )
  expectTypeOf(paying.mutate)
    .parameter(0)
    .toEqualTypeOf<SignOrderPaymentParameters>()
  const canceling = new MutationObserver(
    queries,
    cancelPaymentMutationOptions(config),
  )
  expectTypeOf(canceling.mutate).returns.resolves.toEqualTypeOf<CanceledOrder>()
})

test('hooks return queries and mutations, and no functions named like actions', () => {
  const followed = () => useOrder(order)
  expectTypeOf(followed().data).toEqualTypeOf<BuyerState | undefined>()
  const paying = () => useSignPayment({ config })
  expectTypeOf(paying().data).toEqualTypeOf<BuyerState | undefined>()
  expectTypeOf(paying().variables).toEqualTypeOf<
    SignOrderPaymentParameters | undefined
  >()
  expectTypeOf(paying()).not.toHaveProperty('signPayment')
  expectTypeOf(paying()).not.toHaveProperty('signPaymentAsync')
  const canceling = () => useCancelPayment()
  expectTypeOf(canceling().data).toEqualTypeOf<CanceledOrder | undefined>()
})

test('an order is named as far as it is known', () => {
  useOrder()
  useOrder({ url: '/payments', orderId: undefined })
  // @ts-expect-error the id of an order is a text
  useOrder({ orderId: 1 })
})
