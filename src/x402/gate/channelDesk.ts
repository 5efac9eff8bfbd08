import type { Address, Hash, Hex } from 'viem'
import type { ChannelConfig } from '../../channels/contract/types.js'
import type { RecoverSigner } from '../../channels/vouchers/checkVoucher.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { SignedPayment } from '../../core/types.js'
import type { ChannelRecord, JsonObject } from '../../store/types.js'

/** A channel by its terms, as a client names it. */
export type NamedChannel = { id: Hex; chainId: number; config: ChannelConfig }

/** A charge, with the voucher that covers it and the answer to keep. */
export type BookedCharge = {
  channel: ChannelRecord
  /** Base units of the token. */
  value: bigint
  /** Cumulative amount that the voucher allows, in base units. */
  maxClaimable: bigint
  /** The voucher's signature, in the form that the contract accepts. */
  signature: Hex
  /** The answer that is kept. `until` in Unix milliseconds. */
  note?: { key: string; until: bigint; data: JsonObject } | undefined
}

/** What became of a deposit that our submitter sends. */
export type DepositVerdict =
  /** It is credited. `channel` contains it. */
  | { ok: true; channel: ChannelRecord; transaction: Hash; value: bigint }
  /** Sent, or another deposit of this channel is, and not credited yet. */
  | { ok: false; reason: 'inFlight'; transaction: Hash | undefined }
  /** The token refused it, or its window is over. No tokens moved. */
  | { ok: false; reason: 'rejected' }

/** What became of a refund. `value` in base units. */
export type RefundVerdict =
  | { ok: true; channel: ChannelRecord; transaction: Hash; value: bigint }
  | { ok: false; reason: 'inFlight'; transaction: Hash | undefined }
  | { ok: false; reason: 'rejected' | 'nothingLeft' }

/** What the gate uses of the channels of a shop. */
export type ChannelDesk = {
  /** Account whose key signs claims and refunds of new channels. */
  getAuthorizer(): Promise<Address>
  /** Base units that one channel may owe before requests are refused. */
  mostUnclaimed: bigint | undefined
  load(id: Hex): Promise<ChannelRecord | undefined>
  reload(id: Hex): Promise<ChannelRecord | undefined>
  inTurn<result>(id: Hex, work: () => Promise<result>): Promise<result>
  charge(charge: BookedCharge): Promise<ChannelRecord | undefined>
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
  refresh(id: Hex): Promise<ChannelRecord>
  /** True while the copy of the chain is as new as the policy asks for. */
  isFresh(channel: ChannelRecord): boolean
  /** The deposit with this EIP-3009 nonce, if it is on record. */
  findDeposit(id: Hex, nonce: Hex): Promise<DepositVerdict | undefined>
  /**
   * Puts a deposit on record, sends it, and waits until it is credited. Takes no
   * other deposit of the channel while one is in flight.
   */
  deposit(
    given: NamedChannel & { payment: SignedPayment; salt: Hex },
    options: { timeout: number },
  ): Promise<DepositVerdict>
  /**
   * Claims what was charged, then returns `value` to the payer: never more than
   * what is left.
   */
  refund(
    given: { id: Hex; value: bigint },
    options: { timeout: number },
  ): Promise<RefundVerdict>
}

/** What `createChannels` returns. */
export type Channels = object

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
 * @throws {@link InvalidFieldError} when `createChannels` did not make them.
 */
export function checkChannels(channels: Channels): void {
  if (known.has(Object(channels))) return
  throw new InvalidFieldError(
    'channels',
    channels,
    'what createChannels of countersign/channels returns',
  )
}
