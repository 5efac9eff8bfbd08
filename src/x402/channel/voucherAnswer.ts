import type { SettleResponse } from '@x402/core/types'
import type { Hex } from 'viem'
import { openSealed } from '../../store/openSealed.js'
import type {
  ChannelRecord,
  JsonObject,
  SealContext,
} from '../../store/types.js'
import type { GateContext, KeptResponse } from '../gate/types.js'

/** The answer to the newest voucher of a channel, as it is stored. */
export type VoucherAnswer = {
  /** Random name of the run that has given it. */
  run: string
  /** Absent if the answer was streamed. */
  response: KeptResponse | undefined
  settled: SettleResponse
}

const keyOf = (id: Hex): string => `x402Channel/${id}`

/** The context that binds an encrypted answer to its voucher and request. */
const placeOf = (channel: ChannelRecord, bound: Hex): SealContext => ({
  kind: 'answer',
  orderId: channel.id,
  attempt: 1,
  chainId: channel.chainId,
  token: channel.token,
  payer: channel.payer,
  nonce: bound,
})

/** Builds the record of an answer, which is stored together with the charge. */
export async function noteOfAnswer(
  { context, keepFor }: Pick<GateContext, 'context' | 'keepFor'>,
  channel: ChannelRecord,
  { bound, answer }: { bound: Hex; answer: VoucherAnswer },
): Promise<{ key: string; until: bigint; data: JsonObject }> {
  const text = JSON.stringify(answer)
  const sealed = await context.sealer.seal(text, placeOf(channel, bound))
  return {
    key: keyOf(channel.id),
    until: context.now() + keepFor * 1000n,
    data: { bound, answer: sealed },
  }
}

/**
 * Loads the answer that was given to the same request with the same voucher.
 * Returns `undefined` if the newest answer of the channel is to another one, or
 * cannot be decrypted any more.
 */
export async function loadAnswer(
  { context }: Pick<GateContext, 'context'>,
  channel: ChannelRecord,
  bound: Hex,
): Promise<VoucherAnswer | undefined> {
  const [note] = await context.store.read(({ notes }) =>
    notes.find({ keys: [keyOf(channel.id)] }),
  )
  const { bound: kept, answer } = note?.data ?? {}
  if (kept !== bound || typeof answer !== 'string') return undefined
  const text = await openSealed(context, answer, placeOf(channel, bound))
  // The cast is safe: only `noteOfAnswer` encrypts for this context.
  return text === undefined ? undefined : (JSON.parse(text) as VoucherAnswer)
}
