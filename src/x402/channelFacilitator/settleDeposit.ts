import { depositIdOf, getChannel } from '../../channels/engine.js'
import type { StoreReader, StoreWriter } from '../../store/types.js'
import { loadOwned, type OwnedPayment } from '../facilitator/ownedPayment.js'
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
    hasOther(tables, payload.id, id),
  )
  return isBusy
    ? refuseCall('channel_busy')
    : judgeDeposit(scheme, call, payload)
}

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
    admit: async (tables) => {
      await tables.lock(placeOf(channelId))
      if (await hasOther(tables, channelId, id)) return false
      await keepOpen(tables, { channelId, id, until: deposit.validBefore })
      return true
    },
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
  const { state: step } = order
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

/** Key of the note that names the newest deposit of a channel. */
const placeOf = (channelId: string) => `x402Deposit:${channelId}`

/**
 * True while another deposit of the channel can still be made: a client that
 * lost the answer signs a second one, and would deposit twice.
 */
async function hasOther(
  tables: Pick<StoreReader, 'notes'> & {
    orders: Pick<StoreReader['orders'], 'find'>
  },
  channelId: string,
  id: string,
): Promise<boolean> {
  const [note] = await tables.notes.find({ keys: [placeOf(channelId)] })
  const other = note?.data.id
  if (typeof other !== 'string' || other === id) return false
  const [found] = await tables.orders.find({ ids: [other] })
  const { state, requested } = found ?? {}
  return (
    state === 'capturing' || (state === 'stored' && requested !== undefined)
  )
}

/** @param open.until Unix seconds at which the deposit ends. */
async function keepOpen(
  { notes }: StoreWriter,
  open: { channelId: string; id: string; until: bigint },
): Promise<void> {
  const key = placeOf(open.channelId)
  const until = open.until * 1000n
  const data = { id: open.id }
  const [note] = await notes.find({ keys: [key] })
  if (note) await notes.update([{ key, until, data, version: note.version }])
  else await notes.insert([{ key, until, data }])
}
