import type { SettleResponse } from '@x402/core/types'
import type { Hex } from 'viem'
import type { ChannelRecord } from '../../store/types.js'
import type { ChannelDesk, NamedChannel } from '../gate/channelDesk.js'
import type {
  Asked,
  GateContext,
  KeptResponse,
  OfferedChannel,
  Refusal,
  Signal,
  Terms,
  X402Handler,
} from '../gate/types.js'
import type { ChannelPayload } from './parsePayload.js'

/** A request whose voucher is signed by the channel's key. */
export type SignedCall = {
  gate: GateContext
  desk: ChannelDesk
  request: Request
  /**
   * This request, and later ones with the same voucher, which wait for its
   * answer.
   */
  waiting: Request[]
  handler: X402Handler
  /** True to send a successful answer in parts, and not to store it. */
  isStream: boolean
  asked: Asked
  terms: Terms & { channel: OfferedChannel }
  payload: ChannelPayload
  named: NamedChannel
  /** The voucher's signature, in the form that the contract accepts. */
  signature: Hex
  /** Hash of the voucher, and of the request that it pays for. */
  bound: Hex
}

/** What a streamed answer costs while it runs. Amounts in base units. */
export type StreamCharge = {
  /** Begins the stream, once its first total is on record. */
  begin(channel: ChannelRecord, charged: bigint): void
  /**
   * Raises what the stream has cost to `total`. Resolves once that is on record.
   * Calls that come faster than the store writes share a write.
   *
   * @throws {@link ChargeRejectedError}
   */
  raise(total: bigint): Promise<void>
  /** Ends the charging: the stream costs what is on record, and no more. */
  end(): void
  /** Resolves when nothing more will be written. */
  over: Promise<void>
}

/** A streamed answer, which only one of the waiting requests gets. */
export type LiveAnswer = { response: Response; charge: StreamCharge }

/**
 * What a request gets. Requests with the same voucher that arrive meanwhile get
 * the same.
 */
export type Reply =
  /** An answer of the gate itself. */
  | { kind: 'built'; build: Refusal }
  | {
      kind: 'answered'
      /** The handler's answer; absent if it was streamed. */
      response: KeptResponse | undefined
      /** Absent if nothing was charged or deposited. */
      settled: SettleResponse | undefined
      /** Absent unless the answer is streamed. */
      live?: LiveAnswer | undefined
    }
  /** The handler threw a value for its framework. Nothing was charged. */
  | { kind: 'signal'; signal: Signal }
