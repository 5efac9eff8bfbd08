import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import { defaultMaxCaptureGas } from '../payments/verify/rehearse.js'
import type { OrdersPolicy, SettledPolicy } from './model/types.js'

const defaults: SettledPolicy = {
  window: 900n,
  maxWindow: 86_400n,
  capture: 'manual',
  deadlineNear: 300n,
  safetyMargin: 20n,
  maxFee: undefined,
  maxCaptureGas: defaultMaxCaptureGas,
  contractPayers: 'accept',
  relayCancellations: 'onApproval',
  fulfilAt: 'safe',
  blocks: undefined,
  maxInFlight: 16,
  bumpAfter: 15,
  lease: 15_000,
  signTimeout: 10_000,
  walletTimeout: 120_000,
  pollingInterval: undefined,
}

const choices: Readonly<Record<string, readonly string[]>> = {
  capture: ['manual', 'onAccept', 'beforeDeadline'],
  contractPayers: ['accept', 'refuse'],
  relayCancellations: ['always', 'onApproval'],
  fulfilAt: ['included', 'safe', 'finalized'],
}

/** Largest values that every store and every timer can hold. */
const most: Readonly<Record<string, bigint>> = {
  window: 2n ** 32n,
  maxWindow: 2n ** 32n,
  deadlineNear: 2n ** 32n,
  safetyMargin: 2n ** 32n,
  maxFee: 2n ** 256n,
  maxCaptureGas: 2n ** 32n,
}
const mostCounted = 2 ** 31 - 1

/**
 * Checks a policy and fills in defaults.
 *
 * @throws {@link InvalidFieldError} when a field is unknown or malformed.
 */
export function settlePolicy(given: OrdersPolicy = {}): SettledPolicy {
  if (typeof given !== 'object' || !given)
    throw new InvalidFieldError('policy', given, 'an object')
  checkMembers(given, defaults, 'policy')
  const policy: SettledPolicy = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    checkField(name, value)
    Object.assign(policy, { [name]: value })
  }
  checkTimes(policy)
  return policy
}

function checkTimes({
  capture,
  window,
  maxWindow,
  deadlineNear,
  safetyMargin,
}: SettledPolicy): void {
  if (window > maxWindow)
    throw new InvalidFieldError(
      'policy.window',
      window,
      `at most policy.maxWindow, which is ${maxWindow}`,
    )
  // Every payment its buyers sign would be refused.
  if (window <= safetyMargin)
    throw new InvalidFieldError(
      'policy.window',
      window,
      `more than policy.safetyMargin, which is ${safetyMargin}`,
    )
  // An order that becomes due too late to be sent is never captured.
  if (capture === 'beforeDeadline' && deadlineNear <= safetyMargin)
    throw new InvalidFieldError(
      'policy.deadlineNear',
      deadlineNear,
      `more than policy.safetyMargin, which is ${safetyMargin}`,
    )
}

function checkField(name: string, value: unknown): void {
  const field = `policy.${name}`
  const allowed = choices[name]
  const limit = most[name]
  if (allowed) {
    if (typeof value !== 'string' || !allowed.includes(value))
      throw new InvalidFieldError(field, value, allowed)
  } else if (limit !== undefined) {
    if (typeof value !== 'bigint' || value < 0n || value > limit)
      throw new InvalidFieldError(field, value, `a bigint from 0 to ${limit}`)
  } else if (name === 'blocks') {
    checkMembers(Object(value), { safe: true, finalized: true }, field)
    const { safe, finalized } = Object(value)
    checkCount(`${field}.safe`, safe)
    checkCount(`${field}.finalized`, finalized)
    if (finalized < safe)
      throw new InvalidFieldError(
        `${field}.finalized`,
        finalized,
        `at least ${field}.safe, which is ${safe}`,
      )
  } else checkCount(field, value)
}

function checkCount(field: string, value: unknown): void {
  const fits = Number.isInteger(value) && Number(value) <= mostCounted
  if (!fits || Number(value) < 1)
    throw new InvalidFieldError(field, value, 'a positive integer')
}
