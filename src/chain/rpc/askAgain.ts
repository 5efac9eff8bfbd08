import type { Client } from 'viem'
import { isTemporary } from './classifyFailure.js'
import { parseFailure, RpcError } from './errors.js'
import { mendSocket } from './mendSocket.js'
import type { SendRpc } from './rpcBatch.js'
import { type Attempt, isSentOnce } from './sendAgain.js'

/** Milliseconds without an answer after which a request is sent again. */
const silence = 2_000

/** The same if another transport of a `fallback` can answer. */
const silenceOfFirst = 1_000

/**
 * The same for requests about many blocks. Nodes answer them slowly, and asking
 * twice would only keep the node busy.
 */
const silenceOfMany = 8_000

/** Most milliseconds of a request whose transport has no limit of its own. */
const longest = 30_000

/** Milliseconds for which a silent transport of a `fallback` is left out. */
const leftOutFor = 30_000

type Request = (sent: { method: string }, options?: object) => Promise<unknown>

const known = /* @__PURE__ */ new WeakMap<Client, Client>()

/**
 * Returns a copy of the client for which a request that is never answered costs
 * little: it is sent a second time, to another transport if the client has a
 * `fallback`, and the first answer counts. What a wallet would sign is sent
 * once. The same client gives the same copy.
 */
export function askAgain(client: Client): Client {
  const found = known.get(client)
  if (found) return found
  const { send, timeout }: { send?: SendRpc; timeout?: number } = Object(
    client.transport,
  )
  const request = client.request as unknown as Request
  const others = openOthers(client)
  const limit = timeout === undefined ? longest : undefined
  const requestAgain: Request = async (sent, options) => {
    const { method } = sent
    const first = () => request(sent, options)
    if (isOfWallet(method) || (isSend(method) && !others)) return first()
    const second = others ? () => others.ask(sent, options) : first
    // While the first transport is left out, it is the second choice.
    const isLeftOut = others?.isFirstSilent() === true
    const [one, other] = isLeftOut ? [second, first] : [first, second]
    const begin = async () => {
      const answer = await attempt(one)
      const { failure } = answer
      return isLeftOut && failure && isTemporary(failure)
        ? attempt(other)
        : answer
    }
    const answer = await askTwice(begin, {
      second: () => attempt(other),
      silence: silenceOf(method, others),
      onSilence: isLeftOut
        ? undefined
        : () => mendSocket(others?.first ?? client.transport),
      onSecond: isLeftOut ? undefined : others?.leaveFirstOut,
      limit,
      // One node's "nonce too low" may follow from the same bytes at another.
      mayPass: isSend(method) ? () => true : undefined,
    })
    if (answer.failure) throw answer.error
    return answer.result
  }
  const sendAgain: SendRpc | undefined =
    send &&
    ((method, params, signal) => {
      const first = () => send(method, params, signal)
      return isOfWallet(method) || isSend(method)
        ? first()
        : askTwice(first, { second: first, silence: silenceOf(method) })
    })
  const again: Client = {
    ...client,
    request: requestAgain as unknown as Client['request'],
    transport: sendAgain
      ? { ...client.transport, send: sendAgain }
      : client.transport,
  }
  known.set(client, again)
  known.set(again, again)
  return again
}

/** Sends the bytes of a transaction: what is sent twice is in a block once. */
const isSend = (method: string): boolean => method === 'eth_sendRawTransaction'

/**
 * True for what a wallet may ask a person about, for all other sends, and for
 * filters, which give each log once.
 */
const isOfWallet = (method: string): boolean =>
  !isSend(method) && (isSentOnce(method) || /sign|account|filter/i.test(method))

function silenceOf(method: string, others?: object | undefined): number {
  if (/logs|receipts|^debug|^trace/i.test(method)) return silenceOfMany
  return others ? silenceOfFirst : silence
}

type Answer = Attempt & { result?: unknown; error?: unknown }

async function attempt(ask: () => Promise<unknown>): Promise<Answer> {
  try {
    return { result: await ask() }
  } catch (error) {
    return { failure: parseFailure(error), error }
  }
}

/**
 * Asks a second time after some silence. Returns the first answer; a failure
 * that may pass, by default a temporary one, counts only if nothing else is
 * awaited.
 */
function askTwice<answer extends Attempt>(
  first: () => Promise<answer>,
  {
    second,
    silence,
    onSilence,
    onSecond,
    limit,
    mayPass = isTemporary,
  }: {
    second: () => Promise<answer>
    silence: number
    onSilence?: (() => void) | undefined
    /** Called when the second answer comes and the first has not. */
    onSecond?: (() => void) | undefined
    limit?: number | undefined
    mayPass?: typeof isTemporary | undefined
  },
): Promise<answer> {
  return new Promise((resolve, reject) => {
    let open = 0
    let isOver = false
    const end = (settle: () => void) => {
      if (isOver) return
      isOver = true
      clearTimeout(silent)
      clearTimeout(late)
      settle()
    }
    const begin = (ask: () => Promise<answer>, onAnswer?: () => void) => {
      open++
      ask().then(
        (answer) => {
          open--
          const { failure } = answer
          const passes = failure !== undefined && mayPass(failure)
          if (passes && open > 0) return
          if (!isOver && !passes) onAnswer?.()
          end(() => resolve(answer))
        },
        (error: unknown) => end(() => reject(error)),
      )
    }
    const silent = setTimeout(() => {
      // Thrown in a timer, an error of the caller would end the process.
      try {
        onSilence?.()
      } catch (error) {
        end(() => reject(error))
        return
      }
      begin(second, onSecond)
    }, silence)
    const late =
      limit === undefined
        ? undefined
        : setTimeout(() => {
            const words = `no answer in ${limit} ms`
            end(() => reject(new RpcError({ words })))
          }, limit)
    begin(first)
  })
}

/** One of the transports that viem's `fallback` combines. */
type Inner = { request: Request; value?: object | undefined }

type Others = {
  first: object | undefined
  /** True after the first transport was silent and another one answered. */
  isFirstSilent(): boolean
  leaveFirstOut(): void
  /** Asks the other transports, in their order. */
  ask: Request
}

/** The transports of a `fallback` behind its first one. */
function openOthers({ transport }: Client): Others | undefined {
  const { transports = [] }: { transports?: Inner[] } = Object(transport)
  const [first, ...others] = transports
  if (!first || others.length === 0) return undefined
  let until = 0
  return {
    first: first.value,
    isFirstSilent: () => performance.now() < until,
    leaveFirstOut: () => {
      until = performance.now() + leftOutFor
    },
    ask: async (sent, options) => {
      for (const [at, { request }] of others.entries())
        try {
          return await request(sent, options)
        } catch (error) {
          const isLast = at === others.length - 1
          if (isLast || !isTemporary(parseFailure(error))) throw error
        }
      return undefined
    },
  }
}
