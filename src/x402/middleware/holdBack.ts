import { isBytes } from '../../core/isBytes.js'
import { isHeadSent, type ServerResponse, twinOf } from './twinOf.js'

/** The part of an Express response that this middleware uses. */
export type ExpressResponse = ServerResponse & {
  end(body?: Uint8Array): unknown
}

/**
 * A response that collects what handlers write, and sends nothing to the
 * client.
 */
type HeldResponse = {
  /**
   * Resolves with the complete answer of the handlers. Call it once, when the
   * handlers begin. Rejects if they end without a complete answer.
   */
  begin(): Promise<Response>
  /**
   * True if the client disconnected and the handlers then wrote nothing for a
   * minute.
   */
  isAbandoned(): boolean
  /** True if `begin` resolved with an error, for want of room. */
  isTooLong(): boolean
  /** Makes later writes go to the client again. */
  release(): void
  /**
   * Ignores everything that handlers still write. Call it after another answer
   * was sent.
   */
  mute(): void
}

const patched = [
  'write',
  'end',
  'writeHead',
  'writeHeader',
  'flushHeaders',
  'writeContinue',
  'writeProcessing',
  'writeEarlyHints',
  'destroy',
  'emit',
] as const

/**
 * Collects what handlers write, instead of sending it. An answer longer than
 * `most` bytes becomes a failure.
 *
 * Handlers see the response as with plain Node: once they have written, the
 * headers count as sent and cannot be changed; after `end` the response counts
 * as ended.
 *
 * A disconnect of the client is hidden from handlers, because the payer may ask
 * for the answer again. `sendFile` and pipes would otherwise stop and never
 * call `end`.
 */
export function holdBack(
  response: ExpressResponse,
  most: number,
): HeldResponse {
  const collected = collect(most)
  const originals = patched.map((name) => Reflect.get(response, name))
  const emit = response.emit.bind(response)
  const silence = limitSilence()
  // Node never looks at the bytes of a body that an answer cannot have.
  const hasBody = Reflect.get(response, '_hasBody') !== false
  let hasBegun = false
  let hasEnded = false
  let isTooLong = false
  const socket = hideSocket(response, () => hasEnded)
  let hasLeft = socket.isClosed()
  if (hasLeft) showLeft(response, false)
  // What handlers set after the head was written is not sent.
  let head = { status: 200, statusText: '' }
  const twin = twinOf(response, () => sendHead(response))
  const writeHead = (status: unknown, ...given: unknown[]) => {
    try {
      twin.writeHead(status, given)
    } catch (error) {
      const isTrailer = Object(error).code === 'ERR_HTTP_TRAILER_INVALID'
      if (!isTrailer || !hasBegun) throw error
      // Once the handlers have begun, they may write from a callback where
      // nobody catches this error, and it would end the process. The gate sends
      // no trailers, so it removes the `Trailer` header instead.
      response.removeHeader('trailer')
      twin.writeHead(response.statusCode, [])
    }
    const { statusCode, statusMessage } = response
    head = { status: statusCode, statusText: statusMessage }
    Reflect.set(response, '_header', 'held back')
    return response
  }
  const answer = new Promise<Response>((resolve, reject) => {
    const keep = (chunk: unknown, encoding: unknown) => {
      sendHead(response)
      silence.restart()
      if (silence.isOver() || isBodyless(head.status)) return
      if (collected.add(toBytes(chunk, encoding, hasBody))) return
      isTooLong = true
      resolve(Response.json({ error: 'answer_too_long' }, { status: 500 }))
    }
    const replacements = {
      write: (chunk: unknown, ...rest: unknown[]) => {
        const isTaken = twin.call('write', [chunk, ...rest])
        if (isTaken === true) keep(chunk, rest[0])
        return isTaken
      },
      end: (chunk: unknown, ...rest: unknown[]) => {
        twin.call('end', [chunk, ...rest])
        if (hasEnded) return response
        // Node allows `end(callback)`, so the first argument may be a function
        // and not data.
        if (chunk && typeof chunk !== 'function') keep(chunk, rest[0])
        sendHead(response)
        silence.stop()
        hasEnded = true
        Reflect.set(response, 'finished', true)
        try {
          const wire = twin.isHeadUtf8() ? asUtf8 : String
          resolve(toResponse(response, { ...head, wire }, collected.bytes()))
        } catch (error) {
          reject(error)
        }
        return response
      },
      writeHead,
      writeHeader: writeHead,
      flushHeaders: () => {
        sendHead(response)
        twin.call('flushHeaders', [])
      },
      writeContinue: (...given: unknown[]) => twin.call('writeContinue', given),
      writeProcessing: (...given: unknown[]) =>
        twin.call('writeProcessing', given),
      writeEarlyHints: (...given: unknown[]) =>
        twin.call('writeEarlyHints', given),
      destroy: (error: unknown) => {
        reject(error ?? brokenOff())
        return response
      },
      emit: (name: string, ...rest: readonly unknown[]) => {
        if (name !== 'close') return emit(name, ...rest)
        hasLeft = true
        showLeft(response, false)
        // If a handler fails after its first byte, Express destroys the socket.
        // Then the answer will never be complete.
        if (isHeadSent(response) && !hasEnded && socket.isDestroyedByUs())
          reject(brokenOff())
        else if (hasBegun) silence.start()
        return true
      },
    }
    for (const name of patched) Reflect.set(response, name, replacements[name])
  })
  // This promise can reject before `begin` is called. Node ends the process
  // when a promise rejects and nobody handles it.
  answer.catch(() => undefined)
  return {
    begin: () => {
      hasBegun = true
      if (hasLeft) silence.start()
      return Promise.race([answer, silence.ended])
    },
    isAbandoned: silence.isOver,
    isTooLong: () => isTooLong,
    release: () => {
      silence.stop()
      for (const [index, name] of patched.entries())
        Reflect.set(response, name, originals[index])
      Reflect.set(response, '_header', null)
      Reflect.set(response, 'finished', false)
      socket.show()
      if (!hasLeft) return
      showLeft(response, true)
      response.emit('close')
    },
    mute: () => {
      if (hasEnded) return
      for (const name of ['write', 'end'])
        Reflect.set(response, name, (...given: unknown[]) => {
          callBack(given)
          return true
        })
    },
  }
}

const brokenOff = () => new Error('The handler did not finish its answer.')

/**
 * Marks the headers as sent. Calls `writeHead` for that, as Node does before
 * the first byte, because later middleware may have replaced `writeHead` to add
 * headers.
 */
function sendHead(response: ExpressResponse): void {
  if (isHeadSent(response)) return
  const writeHead = Reflect.get(response, 'writeHead')
  Reflect.apply(writeHead, response, [response.statusCode])
}

/**
 * Sets or clears the two fields by which Node shows that the client has
 * disconnected.
 */
function showLeft(response: object, hasLeft: boolean): void {
  for (const name of ['destroyed', '_closed'])
    Reflect.set(response, name, hasLeft)
}

/**
 * Calls the callback that a handler passed to a write, because the handler may
 * wait for it.
 */
function callBack(given: readonly unknown[]): void {
  const callback = given.at(-1)
  if (typeof callback === 'function') queueMicrotask(() => callback())
}

/**
 * Milliseconds without a write, after the client disconnected, until the answer
 * counts as abandoned. A handler that notices the closed connection may stop
 * and never call `end`.
 */
const mostSilence = 60_000

/**
 * After `start` is called, rejects `ended` when nothing is written for
 * `mostSilence` milliseconds.
 */
function limitSilence(): {
  ended: Promise<never>
  start(): void
  /** Starts the time over from now, if `start` was called. */
  restart(): void
  stop(): void
  isOver(): boolean
} {
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let fail: (reason: Error) => void = () => undefined
  const ended = new Promise<never>((_, reject) => {
    fail = reject
  })
  const start = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      timer = undefined
      isOver = true
      fail(
        new Error(
          'The client closed the connection, and the handler stopped writing.',
        ),
      )
    }, mostSilence)
    // The timer must not keep the process alive.
    Object(timer).unref?.()
  }
  return {
    ended,
    start,
    restart: () => {
      if (timer !== undefined) start()
    },
    stop: () => {
      clearTimeout(timer)
      timer = undefined
    },
    isOver: () => isOver,
  }
}

/**
 * Hides from handlers what happens to the socket.
 *
 * Once the client has closed it, `response.socket` is null, as in Node after an
 * answer. If `sendFile` saw a closed socket, it would send nothing, and there
 * would be no answer to store.
 *
 * Once the answer is complete, `destroy` closes the socket only after the
 * answer is sent. If a handler throws after its answer, Express destroys the
 * socket. Without a gate the answer is then already on its way.
 */
function hideSocket(
  response: ExpressResponse,
  hasEnded: () => boolean,
): {
  isClosed(): boolean
  /**
   * True if the server closed the socket, and not the client or the network.
   */
  isDestroyedByUs(): boolean
  show(): void
} {
  const request = Object(Reflect.get(response, 'req'))
  let socket: unknown = Reflect.get(response, 'socket')
  const isClosed = () => Object(socket).writable === false
  const destroyLater = () => {
    Reflect.set(response, 'shouldKeepAlive', false)
    return shown(socket)
  }
  const shown = (real: unknown) =>
    hasEnded() && real
      ? new Proxy(Object(real), {
          get: (target, key) =>
            key === 'destroy' ? destroyLater : Reflect.get(target, key),
        })
      : real
  Reflect.defineProperty(response, 'socket', {
    configurable: true,
    get: () => (isClosed() ? null : shown(socket)),
    // A pipelined request waits until the one before it is answered, and only
    // then gets its socket.
    set: (value: unknown) => {
      socket = value
    },
  })
  const own: unknown = Reflect.get(request, 'socket')
  Reflect.defineProperty(request, 'socket', {
    configurable: true,
    enumerable: true,
    get: () => shown(own),
  })
  return {
    isClosed,
    isDestroyedByUs: () => {
      const { destroyed, readableEnded, errored } = Object(socket)
      return destroyed === true && readableEnded === false && !errored
    },
    show: () => {
      for (const [holder, value] of [
        [response, socket],
        [request, own],
      ] as const) {
        Reflect.deleteProperty(holder, 'socket')
        Reflect.set(holder, 'socket', value)
      }
    },
  }
}

/**
 * Returns the bytes of a chunk, as Node would send them. Refuses an unknown
 * encoding only if the answer has a body, as Node does.
 */
function toBytes(
  chunk: unknown,
  encoding: unknown,
  hasBody: boolean,
): Uint8Array {
  const given = typeof encoding === 'string' && encoding ? encoding : 'utf8'
  const isIgnored = !hasBody && !Buffer.isEncoding(given)
  const named = isIgnored ? 'utf8' : (given as BufferEncoding)
  // Buffer refuses unknown encodings, as Node does.
  if (typeof chunk === 'string') return Buffer.from(chunk, named)
  // Node refuses them beside bytes, too; its own streams say `buffer` there.
  if (given !== 'buffer') Buffer.from('', named)
  // Copies the bytes, because the handler may write its next chunk into the
  // same buffer.
  if (isBytes(chunk)) return new Uint8Array(chunk)
  throw Object.assign(
    new TypeError(
      `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array, not ${typeof chunk}.`,
    ),
    { code: 'ERR_INVALID_ARG_TYPE' },
  )
}

/** Collects what is written, up to `most` bytes. */
function collect(most: number): {
  /** Returns false if all bytes together exceed the limit. */
  add(bytes: Uint8Array): boolean
  bytes(): Uint8Array<ArrayBuffer>
} {
  let parts: Uint8Array[] = []
  let length = 0
  return {
    add: (bytes) => {
      length += bytes.byteLength
      if (length > most) parts = []
      else parts.push(bytes)
      return length <= most
    },
    bytes: () => new Uint8Array(Buffer.concat(parts)),
  }
}

/** True for a status with which a `Response` has no body. */
const isBodyless = (status: number): boolean => [204, 205, 304].includes(status)

/** Returns a text whose Latin-1 bytes are the UTF-8 bytes of another. */
function asUtf8(text: unknown): string {
  return Buffer.from(String(text)).toString('latin1')
}

/** `wire` turns a text into one whose Latin-1 bytes Node would have sent. */
function toResponse(
  response: ExpressResponse,
  {
    status,
    statusText,
    wire,
  }: { status: number; statusText: string; wire: (text: unknown) => string },
  body: Uint8Array<ArrayBuffer>,
): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.getHeaders()))
    for (const one of [value].flat()) headers.append(name, wire(one))
  return new Response(isBodyless(status) ? null : body, {
    status,
    statusText: wire(statusText),
    headers,
  })
}
