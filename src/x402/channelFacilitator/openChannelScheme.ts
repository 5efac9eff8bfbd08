import type { Client } from 'viem'
import {
  type Authorizer,
  type Channels,
  channelsContextOf,
  keepAuthorizer,
  openAuthorizer,
} from '../../channels/engine.js'
import type { ChannelPayload } from '../channel/parsePayload.js'
import { watchCall } from '../facilitator/answerCall.js'
import {
  type AskedCall,
  type ChannelScheme,
  clientFor,
  type FacilitatorContext,
  type SettledCaller,
} from '../facilitator/facilitatorContext.js'
import { startCleaning } from '../gate/removeOld.js'
import {
  type ChannelFacilitator,
  type RefusedCall,
  refuseCall,
  type ServedCall,
  type ShownState,
  showChain,
} from './context.js'
import type { DepositPayload } from './judgeDeposit.js'
import { judgeVoucherCall } from './judgeVoucherCall.js'
import { type ParsedChannelCall, parseChannelCall } from './parseChannelCall.js'
import { settleClaim, settleReceiver } from './settleClaims.js'
import { settleDeposit, verifyDeposit } from './settleDeposit.js'
import { settleRefund } from './settleRefund.js'
import type { ChannelSettled } from './stateAfter.js'

/** Opens what a facilitator needs for the scheme `batch-settlement`. */
export function openChannelScheme(
  facilitator: FacilitatorContext,
  given: Channels,
): ChannelScheme {
  const channels = channelsContextOf(given)
  const getAuthorizer = openAuthorizers(facilitator)
  const scheme = { facilitator, channels, getAuthorizer }
  return {
    verify: (asked) => answerVerify(scheme, asked),
    settle: (asked) => answerSettle(scheme, asked),
    getAuthorizer: async (caller) => (await getAuthorizer(caller)).address,
  }
}

/** Most callers whose keys are kept open. */
const mostOpen = 1000

function openAuthorizers({
  context,
  instance,
}: FacilitatorContext): ChannelFacilitator['getAuthorizer'] {
  const opened = new Map<string, () => Promise<Authorizer>>()
  return ({ name }) => {
    const known = opened.get(name)
    if (known) return known()
    const open = keepAuthorizer(() =>
      instance.openSealed().then(() => openAuthorizer(context, name)),
    )
    opened.set(name, open)
    const [oldest] = opened.keys()
    if (opened.size > mostOpen && oldest !== undefined) opened.delete(oldest)
    return open()
  }
}

type Verified = Awaited<ReturnType<ChannelScheme['verify']>>
type Settled = Awaited<ReturnType<ChannelScheme['settle']>>

async function answerVerify(
  scheme: ChannelFacilitator,
  asked: AskedCall,
): Promise<Verified> {
  const parsed = parseChannelCall(asked.body, 'verify')
  const { payer } = parsed
  const outcome = await watchCall(scheme.facilitator, 'verify', async () => {
    const served = await serve(scheme, parsed, asked)
    return 'code' in served ? served : verify(scheme, served)
  })
  return {
    isValid: outcome.ok,
    ...(outcome.ok ? {} : { invalidReason: outcome.code }),
    ...(outcome.words ? { invalidMessage: outcome.words } : {}),
    ...(payer ? { payer } : {}),
    ...(outcome.ok ? { extra: { ...outcome.state } } : {}),
  }
}

async function answerSettle(
  scheme: ChannelFacilitator,
  asked: AskedCall,
): Promise<Settled> {
  const parsed = parseChannelCall(asked.body, 'settle')
  const { network, payer } = parsed
  const outcome = await watchCall(scheme.facilitator, 'settle', async () => {
    const served = await serve(scheme, parsed, asked)
    if ('code' in served) return served
    startCleaning(scheme.facilitator)
    return settle(scheme, served)
  })
  const value = outcome.ok ? outcome.value : undefined
  return {
    success: outcome.ok,
    ...(outcome.ok ? {} : { errorReason: outcome.code }),
    ...(outcome.words ? { errorMessage: outcome.words } : {}),
    transaction: outcome.hash ?? '',
    network,
    ...(payer ? { payer } : {}),
    ...(value === undefined ? {} : { amount: String(value) }),
    ...(outcome.ok && outcome.state
      ? { extra: { channelState: outcome.state } }
      : {}),
  }
}

/** Checks that this caller may make the call. */
async function serve(
  { facilitator }: ChannelFacilitator,
  parsed: ParsedChannelCall,
  { caller, signal }: AskedCall,
): Promise<ServedCall | RefusedCall> {
  if (!parsed.ok) return parsed
  await facilitator.instance.openSealed()
  const { call } = parsed
  const client = await findClient(facilitator, caller, call)
  const until = performance.now() + facilitator.timeout
  if (client) return { ...call, caller, client, signal, until }
  const { tokens } = facilitator.context
  const isKnown = tokens.some(({ chainId }) => chainId === call.chainId)
  const code = isKnown ? 'invalid_payment_requirements' : 'invalid_network'
  return { ok: false, code }
}

/** Another process may just have added the recipient that the call names. */
async function findClient(
  facilitator: FacilitatorContext,
  caller: SettledCaller,
  wanted: Parameters<typeof clientFor>[2],
): Promise<Client | undefined> {
  const { shop } = facilitator.context
  const found = clientFor(facilitator, caller, wanted)
  if (found || shop.name === undefined) return found
  await shop.refresh().catch(() => undefined)
  return clientFor(facilitator, caller, wanted)
}

type Accepted = {
  ok: true
  hash?: undefined
  words?: undefined
  state: ShownState
}

async function verify(
  scheme: ChannelFacilitator,
  call: ServedCall,
): Promise<Accepted | RefusedCall> {
  const { ask } = call
  if (!('payload' in ask)) return refuseCall('payload_type')
  const { payload } = ask
  const judged = isDeposit(payload)
    ? await verifyDeposit(scheme, call, payload)
    : await judgeVoucherCall(scheme, call, payload)
  if (!judged.ok) return judged
  return { ok: true, state: showChain(payload.id, judged.state) }
}

function settle(
  scheme: ChannelFacilitator,
  call: ServedCall,
): Promise<ChannelSettled | RefusedCall> | RefusedCall {
  const { ask } = call
  if (ask.type === 'claim') return settleClaim(scheme, call, ask)
  if (ask.type === 'settle') return settleReceiver(scheme, call, ask)
  if (ask.type === 'refundNow') return settleRefund(scheme, call, ask)
  return isDeposit(ask.payload)
    ? settleDeposit(scheme, call, ask.payload)
    : refuseCall('payload_type')
}

const isDeposit = (payload: ChannelPayload): payload is DepositPayload =>
  payload.deposit !== undefined
