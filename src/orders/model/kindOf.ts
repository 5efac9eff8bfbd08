import type { Address } from 'viem'
import type { AnyKind, PaymentKind } from '../../payments/kind.js'
import type { OrderRecord } from '../../store/types.js'
import { OrdersSetupError } from './errors.js'

export type OrderKinds = ReadonlyMap<string, AnyKind>

export type HasKinds = { kinds: OrderKinds }

/**
 * True when `createOrders` got the module for this order's kind of payment in
 * `kinds`, or the kind is built in.
 */
export function knowsKind(
  { kinds }: HasKinds,
  { kind }: Pick<OrderRecord, 'kind'>,
): boolean {
  return kinds.has(kind)
}

/**
 * Returns the module for the order's kind of payment.
 * @throws {@link OrdersSetupError} when `createOrders` did not get that module.
 */
export function kindOf(
  { kinds }: HasKinds,
  { kind, id }: Pick<OrderRecord, 'kind' | 'id'>,
): AnyKind {
  const found = kinds.get(kind)
  if (found) return found
  throw unknownKind({ kind, id })
}

/**
 * Like {@link kindOf}, for an order that a buyer signs.
 * @throws {@link OrdersSetupError} when payers do not sign payments of this
 * kind.
 */
export function signedKindOf(
  context: HasKinds,
  order: Pick<OrderRecord, 'kind' | 'id'>,
): PaymentKind {
  const kind = kindOf(context, order)
  if (!kind.settling) return kind
  const { kind: name, id: orderId } = order
  throw new OrdersSetupError(`sign no payments of the kind "${name}"`, {
    orderId,
    kind: name,
  })
}

/**
 * True when the token keeps a payment nonce for each payment of this kind, and
 * its events name that nonce. For other kinds, the chain is asked about each
 * payment separately.
 */
export function hasTokenNonce(kind: AnyKind): boolean {
  return !kind.settling && !kind.permit
}

/**
 * Returns the contracts that pay what was settled before, whoever has them do
 * it. Their payments belong to no order.
 */
export function settlersOf({ kinds }: HasKinds): ReadonlySet<Address> {
  return new Set(
    [...kinds.values()].flatMap(({ settling }) => settling?.payers ?? []),
  )
}

export function unknownKind({
  kind,
  id,
}: Pick<OrderRecord, 'kind' | 'id'>): OrdersSetupError {
  return new OrdersSetupError(
    `do not know the kind ${JSON.stringify(kind)} of an order: add it to kinds`,
    { orderId: id, kind },
  )
}

/**
 * Returns the token units that a capture takes: the exact amount, or for an
 * order with a ceiling the amount that `capture` named; `undefined` before
 * that.
 */
export function captureValueOf({
  total,
  value,
  captureValue,
}: Pick<OrderRecord, 'total' | 'value' | 'captureValue'>): bigint | undefined {
  return total === 'amount' ? value : captureValue
}

/**
 * Like {@link captureValueOf}, for an order whose capture is sent now.
 * @throws {@link OrdersSetupError} when `capture` named no amount.
 */
export function requireCaptureValue(order: OrderRecord): bigint {
  const value = captureValueOf(order)
  if (value !== undefined) return value
  throw new OrdersSetupError(
    'have no amount to capture: capture of an order with a ceiling needs amount',
    { orderId: order.id },
  )
}
