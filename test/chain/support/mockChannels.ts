import type { Channels } from 'countersign/channels'
import type { PaymentStore } from 'countersign/store'
import type { Address, Hex } from 'viem'
import { vi } from 'vitest'
import {
  type ChannelDesk,
  type DepositVerdict,
  keepDesk,
  type NamedChannel,
} from '../../../src/x402/gate/channelDesk.js'

type Row = NonNullable<Awaited<ReturnType<ChannelDesk['load']>>>

/** What the mock chain says about a channel. */
type OnChain = { balance: bigint; claimed: bigint; withdrawing: bigint }

/**
 * A mock of the channels of a shop: rows and chain are in memory, and only notes
 * are in the store. For what the gate does with their answers; what they are
 * worth, the tests of channels show.
 */
export type MockChannels = {
  channels: Channels
  desk: ChannelDesk
  rows: Map<Hex, Row>
  onChain: Map<Hex, OnChain>
  /** Deposits that were sent, by nonce. */
  sent: Map<Hex, DepositVerdict>
  refunds: { id: Hex; value: bigint }[]
  /** Copies what the mock chain says, as a worker does. */
  copy(id: Hex): Promise<Row>
}

export function mockChannels(
  store: PaymentStore,
  authorizer: Address = `0x${'a1'.repeat(20)}`,
): MockChannels {
  const rows = new Map<Hex, Row>()
  const onChain = new Map<Hex, OnChain>()
  const sent = new Map<Hex, DepositVerdict>()
  const refunds: { id: Hex; value: bigint }[] = []
  const turns = new Map<Hex, Promise<unknown>>()
  const put = (row: Row): Row => {
    const next = { ...row, version: row.version + 1 }
    rows.set(row.id, next)
    return next
  }
  const copy = (row: Row): Row => {
    const { balance, claimed, withdrawing } = onChain.get(row.id) ?? empty
    const charged = claimed > row.charged ? claimed : row.charged
    const isStopped = withdrawing > 0n
    return put({
      ...row,
      balance,
      claimed,
      charged,
      withdrawing,
      state: isStopped ? 'stopped' : balance > 0n ? 'open' : 'opening',
      reason: isStopped ? 'withdrawal' : undefined,
    })
  }
  const hash = (): Hex =>
    `0x${String(sent.size + refunds.length).padStart(64, '0')}`
  const desk: ChannelDesk = {
    getAuthorizer: async () => authorizer,
    mostUnclaimed: undefined,
    claimAtLimit: vi.fn(),
    load: async (id) => rows.get(id),
    reload: async (id) => rows.get(id),
    inTurn: async (id, work) => {
      const turn = (turns.get(id) ?? Promise.resolve()).then(work, work)
      turns.set(
        id,
        turn.catch(() => undefined),
      )
      return turn
    },
    charge: vi.fn<ChannelDesk['charge']>(async (given) => {
      const { channel, value, maxClaimable, signature, note } = given
      if (rows.get(channel.id)?.version !== channel.version) return undefined
      if (note)
        await store.write(async ({ notes }) => {
          await notes.remove([note.key])
          await notes.insert([note])
        })
      return put({
        ...channel,
        charged: channel.charged + value,
        signed: maxClaimable,
        voucher: signature,
      })
    }),
    adopt: async (named) => {
      const found = onChain.get(named.id)
      return found?.balance ? copy(rowOf(named)) : undefined
    },
    openVoucher: async ({ voucher }) => voucher as Hex | undefined,
    refresh: vi.fn(async ({ id }) => {
      const row = rows.get(id)
      if (!row) throw new Error('unknown channel')
      return copy(row)
    }),
    isFresh: () => true,
    findDeposit: async (_, { message }) => sent.get(message.nonce),
    deposit: vi.fn<ChannelDesk['deposit']>(async ({ payment, ...named }) => {
      const { value, nonce } = payment.message
      const before = onChain.get(named.id) ?? empty
      onChain.set(named.id, { ...before, balance: before.balance + value })
      const channel = copy(rows.get(named.id) ?? rowOf(named))
      const made = { ok: true, channel, transaction: hash(), value } as const
      sent.set(nonce, made)
      return made
    }),
    refund: vi.fn<ChannelDesk['refund']>(async ({ id, value }) => {
      const row = rows.get(id)
      if (!row) throw new Error('unknown channel')
      refunds.push({ id, value })
      const balance = row.balance - value
      onChain.set(id, { balance, claimed: row.charged, withdrawing: 0n })
      const channel = copy(row)
      return { ok: true, channel, transaction: hash(), value }
    }),
  }
  // The gate asks the desk alone.
  const channels = {} as Channels
  keepDesk(channels, () => desk)
  const copyById = (id: Hex) => desk.refresh({ id } as Row)
  return { copy: copyById, channels, desk, rows, onChain, sent, refunds }
}

const empty: OnChain = { balance: 0n, claimed: 0n, withdrawing: 0n }

const rowOf = ({ id, chainId, config }: NamedChannel): Row => {
  const { receiver, ...terms } = config
  return {
    id,
    version: 0,
    position: 0n,
    chainId,
    recipient: receiver,
    ...terms,
    state: 'opening',
    reason: undefined,
    charged: 0n,
    signed: 0n,
    voucher: undefined,
    balance: 0n,
    claimed: 0n,
    withdrawing: 0n,
    withdrawableAt: undefined,
    refundNonce: 0n,
    seenBlock: 0n,
    seenAt: 0n,
    depositId: undefined,
    unclaimedSince: undefined,
    due: undefined,
    usedAt: 0n,
  }
}
