import { checkLimit } from '../core/checkLimit.js'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
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
  batch: 'auto',
  maxBatch: 100,
  bumpAfter: 15,
  lease: 15_000,
  signTimeout: 10_000,
  sealTimeout: 5_000,
  walletTimeout: 120_000,
  mostAtRisk: undefined,
  pollingInterval: undefined,
  quietInterval: undefined,
  chainClock: 'checked',
}

const choices: Readonly<Record<string, readonly string[]>> = {
  batch: ['auto', 'off'],
  capture: ['manual', 'onAccept', 'beforeDeadline'],
  contractPayers: ['accept', 'refuse'],
  relayCancellations: ['always', 'onApproval'],
  fulfilAt: ['included', 'safe', 'finalized'],
  chainClock: ['checked', 'own'],
}

/**
 * Largest allowed values: what every store can keep and every timer can wait.
 */
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
      shown(window),
      `at most policy.maxWindow, which is ${maxWindow}`,
    )
  // With a shorter window, every payment that buyers sign would be refused.
  if (window <= safetyMargin)
    throw new InvalidFieldError(
      'policy.window',
      shown(window),
      `more than policy.safetyMargin, which is ${safetyMargin}`,
    )
  // Otherwise an order would become due when it is too late to send, and would
  // never be captured.
  if (capture === 'beforeDeadline' && deadlineNear <= safetyMargin)
    throw new InvalidFieldError(
      'policy.deadlineNear',
      shown(deadlineNear),
      `more than policy.safetyMargin, which is ${safetyMargin}`,
    )
}

function checkField(name: string, value: unknown): void {
  const field = `policy.${name}`
  const allowed = choices[name]
  const limit = most[name]
  if (allowed) {
    if (typeof value !== 'string' || !allowed.includes(value))
      throw new InvalidFieldError(field, shown(value), allowed)
  } else if (limit !== undefined) {
    if (typeof value !== 'bigint' || value < 0n || value > limit)
      throw new InvalidFieldError(
        field,
        shown(value),
        `a bigint from 0 to ${limit}`,
      )
  } else if (name === 'blocks') {
    checkMembers(Object(value), { safe: true, finalized: true }, field)
    const { safe, finalized } = Object(value)
    checkCount(`${field}.safe`, safe)
    checkCount(`${field}.finalized`, finalized)
    if (finalized < safe)
      throw new InvalidFieldError(
        `${field}.finalized`,
        shown(finalized),
        `at least ${field}.safe, which is ${safe}`,
      )
  } else if (name === 'mostAtRisk') {
    if (typeof value !== 'object' || !value)
      throw new InvalidFieldError(field, shown(value), 'an object')
    checkMembers(value, ['total', 'payer'], field)
    const { total, payer } = Object(value)
    checkLimit(`${field}.total`, total)
    if (payer !== undefined) checkLimit(`${field}.payer`, payer)
  } else checkCount(field, value)
}

function checkCount(field: string, value: unknown): void {
  const fits = Number.isInteger(value) && Number(value) <= mostCounted
  if (!fits || Number(value) < 1)
    throw new InvalidFieldError(field, shown(value), 'a positive integer')
}
