import type { BuyerState } from 'countersign/client'
import 'countersign/element'
import type {
  CountersignPayElement,
  CountersignPayEventMap,
} from 'countersign/element'
import { expectTypeOf, test } from 'vitest'

declare const element: HTMLElementTagNameMap['countersign-pay']

test('the document makes the element by its name', () => {
  expectTypeOf(element).toEqualTypeOf<CountersignPayElement>()
  expectTypeOf(document.createElement('countersign-pay')).toEqualTypeOf(element)
  expectTypeOf(
    document.querySelector('countersign-pay'),
  ).toEqualTypeOf<CountersignPayElement | null>()
})

test('each of its events has details of its own', () => {
  element.addEventListener('signed', ({ detail }) =>
    expectTypeOf(detail).toEqualTypeOf<{ orderId: string }>(),
  )
  element.addEventListener('stored', ({ detail }) =>
    expectTypeOf(detail.order).toEqualTypeOf<BuyerState>(),
  )
  element.addEventListener('captured', function ({ detail }) {
    expectTypeOf(this).toEqualTypeOf<CountersignPayElement>()
    expectTypeOf(detail.order).toEqualTypeOf<BuyerState>()
  })
  element.addEventListener('failed', ({ detail }) => {
    expectTypeOf(detail.title).toEqualTypeOf<string>()
    expectTypeOf<'declined'>().toExtend<typeof detail.reason>()
    expectTypeOf<'expired'>().toExtend<typeof detail.reason>()
    // @ts-expect-error no failure has this reason
    expectTypeOf<'unheardOf'>().toExtend<typeof detail.reason>()
  })
  expectTypeOf<keyof CountersignPayEventMap>().toEqualTypeOf<
    'signed' | 'stored' | 'captured' | 'failed'
  >()
})

test('standard events of elements keep their types', () => {
  element.addEventListener('click', (event) =>
    expectTypeOf(event).toEqualTypeOf<PointerEvent>(),
  )
})
