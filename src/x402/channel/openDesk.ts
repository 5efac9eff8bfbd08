import type { Hex } from 'viem'
import {
  adoptChannel,
  type ChannelsContext,
  claimAtLimit,
  depositIdOf,
  depositToChannel,
  keepAuthorizer,
  openAuthorizer,
  refreshChannels,
  refundChannel,
} from '../../channels/engine.js'
import { gatherCalls } from '../../core/gatherCalls.js'
import { openSealed } from '../../store/openSealed.js'
import type { ChannelRecord } from '../../store/types.js'
import { voucherPlace } from '../../store/voucherPlace.js'
import type { ChannelDesk } from '../gate/channelDesk.js'

/** Opens what a gate uses of the channels of a shop. */
export function openDesk(channels: ChannelsContext): ChannelDesk {
  const { context, instance, policy, book } = channels
  const { load, reload, inTurn, charge } = book
  const copies = openCopies(channels)
  const getKeys = keepAuthorizer(() => openAuthorizer(context))
  return {
    load,
    reload,
    inTurn,
    charge,
    getAuthorizer: async () => (await getKeys()).address,
    mostUnclaimed: policy.mostUnclaimed,
    claimAtLimit: (channel) => {
      void instance.hold(claimAtLimit(channels, channel))
    },
    recoverAddress: channels.recoverAddress,
    ...copies,
    adopt: async (named) => {
      const since = performance.now()
      const channel = await adoptChannel(channels, named)
      if (channel) copies.note(named.id, since)
      return channel
    },
    openVoucher: async (channel) => {
      const { voucher } = channel
      return voucher === undefined
        ? undefined
        : ((await openSealed(context, voucher, voucherPlace(channel))) as Hex)
    },
    findDeposit: async (id, payment) => {
      const ids = [depositIdOf(id, payment)]
      const [order] = await context.store.read(({ orders }) =>
        orders.find({ ids }),
      )
      if (!order) return undefined
      const { state, settledHash: transaction, value } = order
      return state === 'captured' && transaction
        ? { ok: true, transaction, value }
        : { ok: false }
    },
    deposit: async ({ payment, ...named }, options) => {
      const since = performance.now()
      const wanted = { ...named, payment, ...options }
      const made = await depositToChannel(channels, wanted)
      const { value } = payment.message
      if (made.status === 'rejected') return { ok: false, reason: 'rejected' }
      if (made.status !== 'credited') return { ok: false, reason: 'inFlight' }
      const { channel, transactionHash: transaction } = made
      copies.note(channel.id, since)
      return { ok: true, channel, transaction, value }
    },
    refund: async ({ id: channelId, value }, { timeout }) => {
      const given = { channelId, value, timeout }
      const made = await refundChannel(channels, given)
      if (made.status === 'pending') return { ok: false, reason: 'inFlight' }
      if (made.status === 'rejected') {
        if (made.reason === 'nothingLeft')
          return { ok: false, reason: 'nothingLeft' }
        const isEarly =
          made.reason === 'unclaimedCharges' || made.reason === 'refundInFlight'
        return { ok: false, reason: isEarly ? 'inFlight' : 'rejected' }
      }
      const channel = await reload(channelId)
      const { transactionHash: transaction } = made
      return channel
        ? { ok: true, channel, transaction, value: made.value }
        : { ok: false, reason: 'inFlight' }
    },
  }
}

/** Most channels whose last look is remembered. */
const mostRemembered = 10_000

/** Most channels in one request to a node, and most requests at once. */
const mostAsked = 100
const atOnce = 2

type Copies = Pick<ChannelDesk, 'refresh' | 'isFresh'> & {
  /** Remembers when the chain was asked about a channel. */
  note(id: Hex, since: number): void
}

/**
 * Remembers when the chain was asked about each channel: an answer that changes
 * nothing is not stored. Channels that are asked about at once share a request.
 */
function openCopies(channels: ChannelsContext): Copies {
  const looked = new Map<Hex, number>()
  const note = (id: Hex, since: number) => {
    looked.delete(id)
    looked.set(id, since)
    const [oldest] = looked.keys()
    if (looked.size > mostRemembered && oldest) looked.delete(oldest)
  }
  const refresh = gatherCalls<ChannelRecord, ChannelRecord>({
    work: async (rows) => {
      const since = performance.now()
      const [first] = rows
      if (!first) return []
      const ids = rows.map(({ id }) => id)
      const copied = await refreshChannels(channels, first, ids)
      for (const id of ids) note(id, since)
      return rows.map((row) => copied.find(({ id }) => id === row.id) ?? row)
    },
    choose: ([first, ...others]) =>
      first
        ? [first, ...others.filter((one) => isAlike(one, first))].slice(
            0,
            mostAsked,
          )
        : [],
    atOnce,
    waitsForTurn: true,
    isWorthAlone: () => false,
  })
  const copyFor = Number(channels.policy.copyFor) * 1000
  return {
    note,
    refresh: (channel) => refresh({ ...channel }),
    isFresh: ({ id }) => {
      const since = looked.get(id)
      return since !== undefined && performance.now() - since < copyFor
    },
  }
}

const isAlike = (one: ChannelRecord, other: ChannelRecord): boolean =>
  one.chainId === other.chainId && one.token === other.token
