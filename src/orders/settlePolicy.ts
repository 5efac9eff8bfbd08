import { InvalidFieldError } from '../base/errors.js'
import type { OrdersPolicy, SettledPolicy } from '../ledger/types.js'
import { defaultMaxCaptureGas } from '../verify/rehearse.js'

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
  pollingInterval: undefined,
}

const choices: Readonly<Record<string, readonly string[]>> = {
  capture: ['manual', 'onAccept', 'beforeDeadline'],
  contractPayers: ['accept', 'refuse'],
  relayCancellations: ['always', 'onApproval'],
  fulfilAt: ['included', 'safe', 'finalized'],
}

const bigints: readonly string[] = [
  'window',
  'maxWindow',
  'deadlineNear',
  'safetyMargin',
  'maxFee',
  'maxCaptureGas',
]

/**
 * A policy with its defaults filled in.
 *
 * @throws {@link InvalidFieldError} when a field is unknown or malformed.
 */
export function settlePolicy(given: OrdersPolicy = {}): SettledPolicy {
  const policy: SettledPolicy = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name))
      throw new InvalidFieldError('policy', name, 'of known fields')
    if (value === undefined) continue
    checkField(name, value)
    Object.assign(policy, { [name]: value })
  }
  if (policy.window > policy.maxWindow)
    throw new InvalidFieldError(
      'policy.window',
      policy.window,
      `at most maxWindow, ${policy.maxWindow}`,
    )
  return policy
}

function checkField(name: string, value: unknown): void {
  const field = `policy.${name}`
  const allowed = choices[name]
  if (allowed) {
    if (!allowed.includes(String(value)))
      throw new InvalidFieldError(field, value, `one of ${allowed.join(', ')}`)
  } else if (bigints.includes(name)) {
    if (typeof value !== 'bigint' || value < 0n)
      throw new InvalidFieldError(field, value, 'a bigint from 0 on')
  } else if (name === 'blocks') {
    const { safe, finalized } = Object(value)
    checkCount(`${field}.safe`, safe)
    checkCount(`${field}.finalized`, finalized)
    if (finalized < safe)
      throw new InvalidFieldError(
        `${field}.finalized`,
        finalized,
        `at least safe, ${safe}`,
      )
  } else checkCount(field, value)
}

function checkCount(field: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || Number(value) < 1)
    throw new InvalidFieldError(field, value, 'a positive integer')
}
