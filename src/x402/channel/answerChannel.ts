import {
  checkVoucher,
  hashParsedConfig,
  hashParsedVoucher,
} from '../../channels/engine.js'
import {
  refuse,
  requirePayment,
  thrownBy,
  withPrivacy,
  withSettlement,
} from '../gate/answers.js'
import { digestBody, hashBinding } from '../gate/bindRequest.js'
import { heirOf } from '../gate/heirOf.js'
import { openResponse } from '../gate/keptResponse.js'
import { passOn } from '../gate/passOn.js'
import type {
  ChannelRequest,
  GateContext,
  OfferedChannel,
  Refusal,
  Terms,
} from '../gate/types.js'
import { matchTerms } from '../wire/requirements.js'
import { type ChannelPayload, parsePayload } from './parsePayload.js'
import { built, busy, type CodeName, refusedBy } from './refusals.js'
import { serveRefund } from './serveRefund.js'
import { serveVoucher } from './serveVoucher.js'
import type { Reply, SignedCall } from './types.js'

/**
 * Answers a request that is paid by a voucher of a channel. Checks the signature
 * before it reads any record, so that only the payer learns about the channel.
 *
 * One voucher of a channel is served at a time in this process. The same request
 * with the same voucher shares the run; another request waits for its turn, for
 * as long as the gate's `timeout`.
 */
export async function answerChannel(
  gate: GateContext,
  call: ChannelRequest,
): Promise<Response> {
  const signed = await readSigned(gate, call)
  if (typeof signed === 'function') return signed()
  const { payload, bound } = signed
  const { type, refund = '' } = payload
  const key = `${type} ${refund}:${bound}`
  const joined = gate.serving.get(key)
  joined?.waiting.push(call.request)
  const served = joined ?? startServing(signed, key)
  // The cast is safe, because only `startServing` writes the map.
  const reply = (await served.ended) as Reply
  return answerOf(reply, call.request, heirOf(served) === call.request)
}

/** Starts to serve a voucher. Requests that arrive meanwhile with it join. */
function startServing(
  signed: SignedCall,
  key: string,
): { ended: Promise<Reply>; waiting: Request[] } {
  const { gate, payload, waiting } = signed
  const serve = payload.type === 'refund' ? serveRefund : serveVoucher
  const ended = takeTurn(signed, () => serve(signed)).finally(() =>
    gate.serving.delete(key),
  )
  const served = { ended, waiting }
  gate.serving.set(key, served)
  return served
}

/**
 * Serves a request in its channel's turn. Waits for the turn at most for the
 * gate's `timeout`: the handler of an earlier request may never answer. A stream
 * keeps the turn while it can cost more.
 */
function takeTurn(
  { gate, desk, named }: SignedCall,
  serve: () => Promise<Reply>,
): Promise<Reply> {
  return new Promise((settle, fail) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      settle(built(busy))
    }, gate.timeout)
    const work = async () => {
      clearTimeout(timer)
      if (isLate) return
      const reply = await serve()
      settle(reply)
      if (reply.kind === 'answered') await reply.live?.charge.over
    }
    desk.inTurn(named.id, work).catch(fail)
  })
}

/** Builds a request's own answer: a response can be read only once. */
function answerOf(reply: Reply, request: Request, isHeir: boolean): Response {
  if (reply.kind === 'built') return reply.build()
  if (reply.kind === 'signal') throw thrownBy(reply.signal)
  const { response, settled, live } = reply
  const answer =
    live && isHeir
      ? passOn(live.response, request.signal, live.charge.end)
      : response
        ? openResponse(response)
        : refuse(409, 'answered')
  return settled ? withSettlement(answer, settled) : withPrivacy(answer)
}

/**
 * Parses the payload, and checks everything that needs no record: the terms, the
 * id of the channel, and the voucher's signature.
 */
async function readSigned(
  gate: GateContext,
  { request, asked, payload: given, handler, stream }: ChannelRequest,
): Promise<SignedCall | Refusal> {
  const { keccak256 } = gate.context
  const open = asked.getOpen()
  const matched = matchTerms(
    open.map(({ requirements }) => requirements),
    given,
  )
  if (!matched.ok) return () => requirePayment(asked, matched.code)
  const terms = open[matched.index]
  if (!terms || !isOfChannel(terms))
    return () => requirePayment(asked, 'unsupported_scheme')
  const parsed = parsePayload(given.payload)
  if (!parsed.ok) return () => requirePayment(asked, parsed.code)
  const { payload } = parsed
  const { config, id, maxClaimable } = payload
  const { chainId } = terms.offer
  const mismatch = findMismatch(terms, payload)
  if (mismatch) return refusedBy(asked, mismatch)
  if (hashParsedConfig(config, chainId, keccak256) !== id)
    return refusedBy(asked, 'channel_id_mismatch')
  // The payer signs then: a contract could deny its signature before the claim.
  if (!BigInt(config.payerAuthorizer))
    return refusedBy(
      asked,
      'voucher_signature',
      'The channel needs a payerAuthorizer: the key that signs its vouchers.',
    )
  const digest = await digestBody(request, gate.mostRequestBytes)
  if (!digest) return () => refuse(413, 'request_too_long')
  const { desk } = terms.channel.flow
  const voucher = { channelId: id, maxClaimable }
  const checked = await checkVoucher({
    chainId,
    voucher,
    signature: payload.signature,
    signer: config.payerAuthorizer,
    recoverAddress: desk.recoverAddress,
    keccak256,
  })
  if (!checked.ok) return refusedBy(asked, 'voucher_signature')
  const bound = hashBinding(
    {
      offer: terms.offer.name,
      method: request.method,
      resource: asked.resource,
      body: digest.body,
      // Of the voucher alone: if the client sends it again, the rest of the
      // payload may differ, such as the signature of a deposit.
      payload: hashParsedVoucher(voucher, chainId, keccak256),
    },
    keccak256,
  )
  return {
    gate,
    desk,
    request,
    waiting: [request],
    handler,
    isStream: terms.offer.stream && stream !== false,
    asked,
    terms,
    payload,
    named: { id, chainId, config },
    signature: checked.signature,
    bound,
  }
}

const isOfChannel = (
  terms: Terms,
): terms is Terms & { channel: OfferedChannel } => terms.channel !== undefined

/** Compares the channel with the offer. */
function findMismatch(
  { offer, channel }: Terms & { channel: OfferedChannel },
  { config }: ChannelPayload,
): CodeName | undefined {
  if (config.receiver !== offer.recipient) return 'receiver_mismatch'
  if (config.token !== offer.token) return 'token_mismatch'
  if (config.receiverAuthorizer !== channel.receiverAuthorizer)
    return 'receiver_authorizer_mismatch'
  if (config.withdrawDelay !== channel.withdrawDelay)
    return 'withdraw_delay_mismatch'
  return undefined
}
