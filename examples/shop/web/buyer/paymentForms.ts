import {
  type AnyPayment,
  decodePayment,
  encodePayment,
  type SigningKind,
} from 'countersign'
import { Unreachable } from '../api/Problem.js'

/** How a payment is read, signed and written as JSON. */
export type PaymentForm = {
  kind?: SigningKind | undefined
  decode(json: unknown): AnyPayment
  encode(payment: AnyPayment): string
}

const exactForm: PaymentForm = { decode: decodePayment, encode: encodePayment }

/** Loads what only orders with a ceiling need when there is such an order. */
export async function loadForm(
  total: 'amount' | 'atMost',
): Promise<PaymentForm> {
  if (total === 'amount') return exactForm
  const { ceilingForm } = await import('./ceilingForm.js').catch(() => {
    throw new Unreachable()
  })
  return ceilingForm
}
