import type { Client, Hash } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import { contextOf } from '../../orders/engine.js'
import { startCleaning } from '../gate/removeOld.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import { isObject } from '../wire/headers.js'
import { channelScheme } from '../wire/requirements.js'
import {
  type AskedCall,
  clientFor,
  type FacilitatorContext,
  type SettledCaller,
} from './facilitatorContext.js'
import {
  type FacilitatorCall,
  type ParsedCall,
  parseCall,
} from './parseCall.js'
import { settlePayment } from './settlePayment.js'
import type { Settled, Verified } from './types.js'
import { verifyCall } from './verifyCall.js'

/** Answers `/verify`. Never rejects: turns errors into answers. */
export async function answerVerify(
  facilitator: FacilitatorContext,
  asked: AskedCall,
): Promise<Verified> {
  const { loadChannels } = facilitator
  const { body, caller } = asked
  if (loadChannels && isOfChannel(body))
    return (await loadChannels()).verify(asked)
  const served = await findServedNow(facilitator, caller, body)
  const { payer } = served
  const outcome = await watchCall(facilitator, 'verify', async () => {
    if (!served.ok) return served
    await contextOf(facilitator.orders).instance.open()
    return verifyCall(facilitator, { ...served, caller })
  })
  return {
    isValid: outcome.ok,
    ...(outcome.ok ? {} : { invalidReason: outcome.code }),
    ...(outcome.words ? { invalidMessage: outcome.words } : {}),
    ...(payer ? { payer } : {}),
  }
}

/** Answers `/settle`. Never rejects: turns errors into answers. */
export async function answerSettle(
  facilitator: FacilitatorContext,
  asked: AskedCall,
): Promise<Settled> {
  const { loadChannels } = facilitator
  const { body, caller, signal } = asked
  if (loadChannels && isOfChannel(body))
    return (await loadChannels()).settle(asked)
  const served = await findServedNow(facilitator, caller, body)
  const { network, payer } = served
  const outcome = await watchCall(facilitator, 'settle', async () => {
    if (!served.ok) return served
    await contextOf(facilitator.orders).instance.open()
    startCleaning(facilitator)
    return settlePayment(facilitator, { ...served, caller, signal })
  })
  return {
    success: outcome.ok,
    ...(outcome.ok ? {} : { errorReason: outcome.code }),
    ...(outcome.words ? { errorMessage: outcome.words } : {}),
    transaction: outcome.hash ?? '',
    network,
    ...(payer ? { payer } : {}),
  }
}

/** True for a call of the scheme `batch-settlement`. */
function isOfChannel(body: unknown): boolean {
  const { paymentRequirements } = isObject(body) ? body : {}
  return Object(paymentRequirements).scheme === channelScheme
}

type Refused = {
  ok: false
  code: X402ErrorCode
  hash?: Hash | undefined
  words?: string | undefined
}

type Accepted = {
  ok: true
  hash?: Hash | undefined
  words?: string | undefined
}

/** Runs the work, and reports its duration and outcome to `observe`. */
export async function watchCall<accepted extends Accepted>(
  { context }: Pick<FacilitatorContext, 'context'>,
  call: 'verify' | 'settle',
  work: () => Promise<accepted | Refused>,
): Promise<accepted | Refused> {
  const name = `x402.${call}`
  const start = performance.now()
  const duration = () => performance.now() - start
  try {
    const outcome = await work()
    const { ok } = outcome
    const attributes = outcome.ok ? { ok } : { ok, reason: outcome.code }
    context.observe({ name, duration: duration(), attributes })
    return outcome
  } catch (error) {
    // Reports names of this library's errors only: an error of other code could
    // carry a secret in its name.
    const known = error instanceof CountersignError ? error.name : 'Error'
    const attributes = { ok: false, error: known }
    context.observe({ name, duration: duration(), attributes })
    return { ok: false, code: `unexpected_${call}_error` }
  }
}

type Served = Pick<ParsedCall, 'network' | 'payer'> &
  (
    | { ok: true; call: FacilitatorCall; client: Client }
    | { ok: false; code: X402ErrorCode }
  )

/**
 * Finds what this caller may settle. If nothing is found, reloads the shop from
 * the database and looks once more: another process may just have added the
 * recipient that the payment names.
 */
async function findServedNow(
  facilitator: FacilitatorContext,
  caller: SettledCaller,
  body: unknown,
): Promise<ReturnType<typeof findServed>> {
  const served = findServed(facilitator, caller, body)
  const { shop } = facilitator.context
  if (served.ok || shop.name === undefined) return served
  await shop.refresh().catch(() => undefined)
  return findServed(facilitator, caller, body)
}

/** Parses the call, and checks that this caller may make it. */
function findServed(
  facilitator: FacilitatorContext,
  caller: SettledCaller,
  body: unknown,
): Served {
  const parsed = parseCall(body)
  const { network, payer } = parsed
  if (!parsed.ok) return { ok: false, code: parsed.code, network, payer }
  const { call } = parsed
  const { chainId, verifyingContract: token } = call.payment.domain
  const { recipient } = call
  const client = clientFor(facilitator, caller, { chainId, token, recipient })
  if (client) return { ok: true, call, client, network, payer: parsed.payer }
  const isKnown = facilitator.context.tokens.some(
    (one) => one.chainId === chainId,
  )
  const code = isKnown ? 'invalid_payment_requirements' : 'invalid_network'
  return { ok: false, code, network, payer }
}
