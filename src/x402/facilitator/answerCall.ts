import type { Client } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import { contextOf } from '../../orders/contextOf.js'
import type { X402ErrorCode } from '../wire/errorCodes.js'
import {
  clientFor,
  type FacilitatorDesk,
  type SettledCaller,
} from './facilitatorDesk.js'
import {
  type FacilitatorCall,
  type ParsedCall,
  parseCall,
} from './parseCall.js'
import { type SettleOutcome, settlePayment } from './settlePayment.js'
import type { Settled, Verified } from './types.js'
import { verifyCall } from './verifyCall.js'

type Asked = {
  /** The body of the request, parsed as JSON. */
  body: unknown
  caller: SettledCaller
  signal: AbortSignal
}

/** Answers `/verify`. Never rejects: what goes wrong is an answer too. */
export async function answerVerify(
  desk: FacilitatorDesk,
  { body, caller }: Asked,
): Promise<Verified> {
  const served = findServed(desk, caller, body)
  const payer = served.payer === undefined ? {} : { payer: served.payer }
  if (!served.ok)
    return { isValid: false, invalidReason: served.code, ...payer }
  try {
    await contextOf(desk.orders).instance.open()
    const outcome = await verifyCall(desk, { ...served, caller })
    if (outcome.ok) return { isValid: true, ...payer }
    const { code, words } = outcome
    return {
      isValid: false,
      invalidReason: code,
      ...(words ? { invalidMessage: words } : {}),
      ...payer,
    }
  } catch (error) {
    observeFault(desk, 'verify', error)
    return {
      isValid: false,
      invalidReason: 'unexpected_verify_error',
      ...payer,
    }
  }
}

/** Answers `/settle`. Never rejects: what goes wrong is an answer too. */
export async function answerSettle(
  desk: FacilitatorDesk,
  { body, caller, signal }: Asked,
): Promise<Settled> {
  const served = findServed(desk, caller, body)
  if (!served.ok) return writeSettled(served, { ok: false, code: served.code })
  try {
    await contextOf(desk.orders).instance.open()
    const outcome = await settlePayment(desk, { ...served, caller, signal })
    return writeSettled(served, outcome)
  } catch (error) {
    observeFault(desk, 'settle', error)
    return writeSettled(served, { ok: false, code: 'unexpected_settle_error' })
  }
}

type Served = Pick<ParsedCall, 'network' | 'payer'> &
  (
    | { ok: true; call: FacilitatorCall; client: Client }
    | { ok: false; code: X402ErrorCode }
  )

/** What is asked, where this caller may ask for it. */
function findServed(
  desk: FacilitatorDesk,
  caller: SettledCaller,
  body: unknown,
): Served {
  const parsed = parseCall(body)
  const { network, payer } = parsed
  if (!parsed.ok) return { ok: false, code: parsed.code, network, payer }
  const { call } = parsed
  const { chainId, verifyingContract: token } = call.payment.domain
  const { recipient } = call
  const client = clientFor(desk, caller, { chainId, token, recipient })
  if (client) return { ok: true, call, client, network, payer: parsed.payer }
  const isKnown = desk.context.tokens.some((one) => one.chainId === chainId)
  const code = isKnown ? 'invalid_payment_requirements' : 'invalid_network'
  return { ok: false, code, network, payer }
}

function writeSettled(
  { network, payer }: Pick<Served, 'network' | 'payer'>,
  outcome: SettleOutcome,
): Settled {
  const named = payer === undefined ? {} : { payer }
  if (outcome.ok)
    return { success: true, transaction: outcome.hash, network, ...named }
  const { code, hash = '', words } = outcome
  return {
    success: false,
    errorReason: code,
    ...(words ? { errorMessage: words } : {}),
    transaction: hash,
    network,
    ...named,
  }
}

/** Only the names of our own errors are known to say nothing else. */
function observeFault(
  { context }: FacilitatorDesk,
  what: string,
  error: unknown,
): void {
  context.observe({
    name: `x402.${what}.failed`,
    attributes: {
      error: error instanceof CountersignError ? error.name : 'Error',
    },
  })
}
