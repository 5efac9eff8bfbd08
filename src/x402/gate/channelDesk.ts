import type { Address, Hash, Hex } from 'viem'
import { channelsContextOf } from '../../channels/channelsContextOf.js'
import type {
  ChannelBook,
  ChannelConfig,
  Channels,
  RecoverSigner,
} from '../../channels/engine.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment } from '../../core/types.js'
import type { EarlyLimits, OrdersContext } from '../../orders/engine.js'
import type { ChannelRecord } from '../../store/types.js'

/** A channel by its terms, as a client names it. */
export type NamedChannel = { id: Hex; chainId: number; config: ChannelConfig }

/** What became of a deposit that our submitter sends. `value` in base units. */
export type DepositVerdict =
  /** It is credited. `channel` contains it. */
  | { ok: true; channel: ChannelRecord; transaction: Hash; value: bigint }
  /**
   * `inFlight`: sent, or another deposit of this channel is, and not credited
   * yet. `rejected`: the token refused it, or its window is over.
   */
  | { ok: false; reason: 'inFlight' | 'rejected' }

/** What became of a refund. `value` in base units. */
export type ChannelRefundVerdict =
  | { ok: true; channel: ChannelRecord; transaction: Hash; value: bigint }
  | { ok: false; reason: 'inFlight' | 'rejected' | 'nothingLeft' }

/** What the gate uses of the channels of a shop. */
export type ChannelDesk = Pick<
  ChannelBook,
  'load' | 'reload' | 'inTurn' | 'charge'
> & {
  /** Account whose key signs claims and refunds of new channels. */
  getAuthorizer(): Promise<Address>
  /** Base units that one channel may owe before requests are refused. */
  mostUnclaimed: bigint | undefined
  /** Begins the claim of a channel that owes as much as it may. */
  claimAtLimit(channel: ChannelRecord): void
  /**
   * Takes a channel on record that is not, if the chain has it with a balance.
   * What was claimed on chain counts as charged.
   */
  adopt(channel: NamedChannel): Promise<ChannelRecord | undefined>
  /** Decrypts the newest voucher's signature; `undefined` if there is none. */
  openVoucher(channel: ChannelRecord): Promise<Hex | undefined>
  /** Recovers signers faster than viem, if the merchant has given one. */
  recoverAddress?: RecoverSigner | undefined
  /** Copies what the chain says about a channel. */
  refresh(channel: ChannelRecord): Promise<ChannelRecord>
  /** True while the copy of the chain is as new as the policy asks for. */
  isFresh(channel: ChannelRecord): boolean
  /** Finds a deposit on record. `ok`: the chain has it. */
  findDeposit(
    id: Hex,
    payment: SignedPayment,
  ): Promise<
    { ok: true; transaction: Hash; value: bigint } | { ok: false } | undefined
  >
  /**
   * Puts a deposit on record, sends it, and waits until it is credited: with
   * `early`, as soon as it is pre-confirmed and within these limits. Takes no
   * other deposit of the channel while one is in flight, and none if somebody has
   * changed the channel since it was judged.
   */
  deposit(
    given: NamedChannel & {
      payment: SignedPayment
      salt: Hex
      /** Version of the channel that was judged; 0: none is on record. */
      version: number
    },
    options: { timeout: number; early?: EarlyLimits | undefined },
  ): Promise<DepositVerdict>
  /**
   * Claims all charges, then returns `value` to the payer: never more than the
   * rest of the deposit.
   */
  refund(
    given: { id: Hex; value: bigint },
    options: { timeout: number },
  ): Promise<ChannelRefundVerdict>
}

const known: WeakMap<object, ChannelDesk> = /* @__PURE__ */ new WeakMap()

/** Opens the desk of channels once, however many gates use them. */
export function keepDesk(
  channels: Channels,
  open: () => ChannelDesk,
): ChannelDesk {
  const desk = known.get(channels) ?? open()
  known.set(channels, desk)
  return desk
}

/**
 * @throws {@link InvalidFieldError} when `createChannels` did not make them, or
 * made them for other orders.
 */
export function checkChannels(
  channels: Channels,
  { store }: Pick<OrdersContext, 'store'>,
): void {
  if (known.has(Object(channels))) return
  if (channelsContextOf(channels).context.store !== store)
    throw new InvalidFieldError(
      'channels',
      channels,
      'made by createChannels with the same orders',
    )
}
