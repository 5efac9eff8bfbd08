import type { Address } from 'viem'

/** A signed ceiling as the model sees it. */
export type ModelPayment = {
  door: 'authorization' | 'permit'
  payer: Address
  ceiling: bigint
  /** Permits have none. */
  validAfter: bigint
  validBefore: bigint
  /** The nonce of an authorization is its place in the list. */
  nonce: bigint
}

export type ModelCapture = {
  payment: ModelPayment
  amount: bigint
  byOperator: boolean
  /** Terms or signature were changed. */
  tampered: boolean
  /** Time of the block. */
  time: bigint
}

/** What both contracts and tokens must do, in plain numbers. */
export type CheckoutModel = {
  balances: Map<Address, bigint>
  recipient: Address
  usedNonces: Set<bigint>
  permitNonces: Map<Address, bigint>
  allowances: Map<Address, bigint>
  capturedPermits: Set<string>
}

export const amountIn = (map: Map<Address, bigint>, account: Address) =>
  map.get(account) ?? 0n

/** Changes the model if a capture must be accepted, and says whether. */
export function modelCapture(
  model: CheckoutModel,
  capture: ModelCapture,
): boolean {
  const { payment, amount, byOperator, tampered } = capture
  if (!byOperator || tampered) return false
  if (amount === 0n || amount > payment.ceiling) return false
  const accepted =
    payment.door === 'permit'
      ? capturePermit(model, capture)
      : captureAuthorization(model, capture)
  if (accepted) modelTransfer(model, payment.payer, model.recipient, amount)
  return accepted
}

function captureAuthorization(
  model: CheckoutModel,
  { payment, time }: ModelCapture,
): boolean {
  const { payer, ceiling, validAfter, validBefore, nonce } = payment
  if (time <= validAfter || time >= validBefore) return false
  if (model.usedNonces.has(nonce)) return false
  if (amountIn(model.balances, payer) < ceiling) return false
  model.usedNonces.add(nonce)
  return true
}

function capturePermit(
  model: CheckoutModel,
  { payment, amount, time }: ModelCapture,
): boolean {
  const { payer, ceiling, validBefore, nonce } = payment
  const key = `${payer} ${nonce}`
  if (time >= validBefore || model.capturedPermits.has(key)) return false
  const next = amountIn(model.permitNonces, payer)
  const isNext = next === nonce
  if (!isNext && next !== nonce + 1n) return false
  const allowed = isNext ? ceiling : amountIn(model.allowances, payer)
  if (allowed < amount || amountIn(model.balances, payer) < amount) return false
  model.permitNonces.set(payer, nonce + 1n)
  model.allowances.set(payer, allowed - amount)
  model.capturedPermits.add(key)
  return true
}

/** Submits a permit alone, of the ceiling or of zero. */
export function modelPermit(
  model: CheckoutModel,
  { payer, nonce, validBefore }: ModelPayment,
  { value, time }: { value: bigint; time: bigint },
): boolean {
  const isNext = amountIn(model.permitNonces, payer) === nonce
  if (!isNext || time >= validBefore) return false
  model.permitNonces.set(payer, nonce + 1n)
  model.allowances.set(payer, value)
  return true
}

export function modelTransfer(
  { balances }: CheckoutModel,
  from: Address,
  to: Address,
  value: bigint,
): boolean {
  const held = amountIn(balances, from)
  if (held < value) return false
  balances.set(from, held - value)
  balances.set(to, amountIn(balances, to) + value)
  return true
}
