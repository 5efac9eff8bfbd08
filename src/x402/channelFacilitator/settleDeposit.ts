import {
  depositIdOf,
  getChannel,
  rehearsePlanned,
} from '../../channels/engine.js'
import { hasGas } from '../facilitator/gasBudget.js'
import {
  keptGasOf,
  loadOwned,
  type OwnedPayment,
} from '../facilitator/ownedPayment.js'
import {
  type ChannelFacilitator,
  type RefusedCall,
  refuseCall,
  type ServedCall,
} from './context.js'
import {
  type DepositPayload,
  depositPaymentOf,
  judgeDeposit,
  planWanted,
} from './judgeDeposit.js'
import {
  coverVoucher,
  type JudgedChannel,
  refuseVoucher,
} from './judgeVoucherCall.js'
import { admitOne, depositPlace, hasOther } from './oneAtOnce.js'
import { isOf, sendMovement } from './sendMovement.js'
import { type ChannelSettled, stateAfter } from './stateAfter.js'

/**
 * Judges whether {@link settleDeposit} would succeed now. Judges a deposit on
 * record by its record. Writes nothing.
 */
export async function verifyDeposit(
  scheme: ChannelFacilitator,
  call: ServedCall,
  payload: DepositPayload,
): Promise<JudgedChannel> {
  const { context } = scheme.facilitator
  const id = depositIdOf(payload.id, await depositPaymentOf(call, payload))
  const owned = await loadOwned(context, id)
  if (owned) return judgeKnown(scheme, call, { payload, owned })
  const isBusy = await context.store.read((tables) =>
    hasOther(tables, { key: depositPlace(payload.id), id }),
  )
  if (isBusy) return refuseCall('channel_busy')
  const judged = await judgeDeposit(scheme, call, payload)
  if (!judged.ok || call.caller.gasPerDay === undefined) return judged
  const planned = await planWanted(scheme, call, payload)
  const rehearsed = await rehearsePlanned(context, call.client, planned)
  if (!rehearsed.ok)
    return refuseCall('deposit_simulation_failed', rehearsed.reason)
  return (await hasGas(context, call.caller, rehearsed.gas)) ? judged : exceeded
}

const exceeded: RefusedCall = { ok: false, code: 'gas_budget_exceeded' }

/** Makes a deposit, and waits until a block has it. */
export async function settleDeposit(
  scheme: ChannelFacilitator,
  call: ServedCall,
  payload: DepositPayload,
): Promise<ChannelSettled | RefusedCall> {
  const { facilitator } = scheme
  const { id: channelId, deposit } = payload
  const id = depositIdOf(channelId, await depositPaymentOf(call, payload))
  const sent = await sendMovement(facilitator, {
    ...call,
    action: 'deposit',
    ids: [id],
    plan: async () => {
      const judged = await judgeDeposit(scheme, call, payload)
      return judged.ok ? planWanted(scheme, call, payload) : judged
    },
    admit: (tables) =>
      admitOne(tables, {
        key: depositPlace(channelId),
        id,
        until: deposit.validBefore,
      }),
  })
  if (!sent.ok) return sent
  const after = await stateAfter(call, channelId, sent.made)
  // A deposit that was on record can come with another voucher.
  const isShort =
    after.ok && payload.maxClaimable > BigInt(after.state?.balance ?? 0)
  return isShort
    ? { ...refuseCall('cumulative_exceeds_balance'), hash: after.hash }
    : after
}

/** Judges a deposit that is on record: it is made, or being made. */
async function judgeKnown(
  scheme: ChannelFacilitator,
  call: ServedCall,
  { payload, owned }: { payload: DepositPayload; owned: OwnedPayment },
): Promise<JudgedChannel> {
  const { order } = owned.found
  const refused = await refuseVoucher(scheme, call, payload)
  if (refused) return refused
  // Nobody has checked the signature of another amount.
  const isOther = order.value !== payload.deposit.value
  if (isOther || !isOf(order, call.caller))
    return refuseCall('deposit_simulation_failed')
  const { state: step, requested } = order
  // It is sent again, and gas is reserved again for it.
  const isRefused = step === 'stored' && requested === undefined
  const { gas } = keptGasOf(order)
  const { context } = scheme.facilitator
  if (isRefused && !(await hasGas(context, call.caller, gas || undefined)))
    return exceeded
  if (step !== 'stored' && step !== 'capturing' && step !== 'captured')
    return refuseCall('deposit_transaction_failed')
  const { id: channelId, deposit, maxClaimable } = payload
  const state = await getChannel(call.client, { channelId })
  const comes = step === 'captured' ? 0n : deposit.value
  const covered = coverVoucher(payload, state, comes)
  if (covered) return covered
  return maxClaimable <= state.claimed
    ? refuseCall('cumulative_below_claimed')
    : { ok: true, state }
}
