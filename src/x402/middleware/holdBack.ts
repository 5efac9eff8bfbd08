export type HeaderValue = string | number | readonly string[] | undefined

/** The part of an Express response that we use. */
export type ExpressResponse = {
  statusCode: number
  statusMessage: string
  getHeaders(): Readonly<Record<string, HeaderValue>>
  removeHeader(name: string): void
  setHeader(name: string, value: string | readonly string[]): unknown
  end(body: Uint8Array): unknown
  emit(name: string): unknown
}

/** A response that is held back from its client. */
type HeldResponse = {
  /**
   * Returns the answer of the handlers. Called once, when they begin. Rejects
   * if they break it off.
   */
  begin(): Promise<Response>
  /** True if the handlers gave no answer in time after the client left. */
  isAbandoned(): boolean
  /** Makes the response send again. */
  release(): void
  /** After another answer was sent: ignores what handlers still write. */
  mute(): void
}

const patched = [
  'write',
  'end',
  'writeHead',
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
 * Handlers see the response as Node shows it: once they have written, the
 * headers count as sent and cannot be changed; after `end` it counts as ended.
 *
 * Hides from handlers that the client left, because the payer may ask for the
 * answer again. If they noticed, `sendFile` and pipes would stop without ever
 * calling `end`.
 */
export function holdBack(
  response: ExpressResponse,
  most: number,
): HeldResponse {
  const collected = collect(most)
  const originals = patched.map((name) => Reflect.get(response, name))
  const emit = response.emit.bind(response)
  const socket = hideClosedSocket(response)
  const silence = limitSilence()
  let hasLeft = socket.isClosed()
  let hasBegun = false
  let hasEnded = false
  if (hasLeft) showLeft(response, false)
  const answer = new Promise<Response>((resolve, reject) => {
    const keep = (chunk: unknown, encoding: unknown) => {
      const bytes = toBytes(chunk, encoding)
      sendHead(response)
      silence.restart()
      if (silence.isOver() || collected.add(bytes)) return
      resolve(Response.json({ error: 'answer_too_long' }, { status: 500 }))
    }
    const replacements = {
      write: (chunk: unknown, ...rest: unknown[]) => {
        keep(chunk, rest[0])
        callBack(rest)
        return true
      },
      end: (chunk: unknown, ...rest: unknown[]) => {
        if (hasEnded) return response
        // The first argument may be the callback.
        if (chunk && typeof chunk !== 'function') keep(chunk, rest[0])
        sendHead(response)
        callBack([chunk, ...rest])
        silence.stop()
        hasEnded = true
        Reflect.set(response, 'finished', true)
        try {
          resolve(toResponse(response, collected.bytes()))
        } catch (error) {
          reject(error)
        }
        return response
      },
      writeHead: (status: number, ...rest: unknown[]) => {
        if (isHeadSent(response)) throw headersSent()
        response.statusCode = status
        if (typeof rest[0] === 'string') response.statusMessage = rest[0]
        for (const [name, values] of toHeaders(rest.at(-1)))
          response.setHeader(name, values)
        Reflect.set(response, '_header', 'held back')
        return response
      },
      flushHeaders: () => sendHead(response),
      writeContinue: () => undefined,
      writeProcessing: () => undefined,
      writeEarlyHints: (...given: unknown[]) => callBack(given),
      destroy: (error: unknown) => {
        reject(error ?? brokenOff())
        return response
      },
      emit: (name: string, ...rest: readonly []) => {
        if (name !== 'close') return emit(name, ...rest)
        hasLeft = true
        showLeft(response, false)
        // Express closes the connection when a handler fails in mid-answer.
        if (isHeadSent(response) && !hasEnded && socket.isDestroyedByUs())
          reject(brokenOff())
        else if (hasBegun) silence.start()
        return true
      },
    }
    for (const name of patched) Reflect.set(response, name, replacements[name])
  })
  // It may break off before anyone waits for it.
  answer.catch(() => undefined)
  return {
    begin: () => {
      hasBegun = true
      if (hasLeft) silence.start()
      return Promise.race([answer, silence.ended])
    },
    isAbandoned: silence.isOver,
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

/** Node keeps the head that it has sent in `_header`. */
const isHeadSent = (response: object): boolean =>
  typeof Reflect.get(response, '_header') === 'string'

/**
 * Sends the head, as Node does before the first byte: middleware behind the
 * gate may have replaced `writeHead` to add its headers there.
 */
function sendHead(response: ExpressResponse): void {
  if (isHeadSent(response)) return
  const writeHead = Reflect.get(response, 'writeHead')
  Reflect.apply(writeHead, response, [response.statusCode])
}

/** The error of Node. */
function headersSent(): Error {
  return Object.assign(
    new Error('Cannot write headers after they are sent to the client'),
    { code: 'ERR_HTTP_HEADERS_SENT' },
  )
}

/** Shows or hides the marks that Node sets when the client left. */
function showLeft(response: object, hasLeft: boolean): void {
  for (const name of ['destroyed', '_closed'])
    Reflect.set(response, name, hasLeft)
}

/** Calls the callback of a write, which the handler may wait for. */
function callBack(given: readonly unknown[]): void {
  const callback = given.at(-1)
  if (typeof callback === 'function') queueMicrotask(() => callback())
}

/**
 * Milliseconds that handlers may take to write more after the client left. A
 * handler that notices it by other means may never end its answer.
 */
const mostSilence = 60_000

/**
 * Rejects `ended` when nothing is written for `mostSilence` milliseconds, once
 * `start` is called.
 */
function limitSilence(): {
  ended: Promise<never>
  start(): void
  /** Measures again from now, if it was started. */
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
      fail(new Error('The client left, and the handler stopped writing.'))
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
 * Makes a response show no socket once its socket is closed, as Node does after
 * an answer: `sendFile` sends nothing to a closed socket.
 */
function hideClosedSocket(response: object): {
  isClosed(): boolean
  /** True if neither the client nor the network closed it. */
  isDestroyedByUs(): boolean
  show(): void
} {
  let socket: unknown = Reflect.get(response, 'socket')
  const isClosed = () => Object(socket).writable === false
  Reflect.defineProperty(response, 'socket', {
    configurable: true,
    get: () => (isClosed() ? null : socket),
    // A pipelined request gets its socket later.
    set: (value: unknown) => {
      socket = value
    },
  })
  return {
    isClosed,
    isDestroyedByUs: () => {
      const { destroyed, readableEnded, errored } = Object(socket)
      return destroyed === true && readableEnded === false && !errored
    },
    show: () => {
      Reflect.deleteProperty(response, 'socket')
      Reflect.set(response, 'socket', socket)
    },
  }
}

/**
 * The headers of `writeHead`, which come by name, or as a list of names and
 * values in turn. A text in their place is the reason phrase.
 */
function toHeaders(given: unknown): ReadonlyMap<string, string[]> {
  const headers = new Map<string, string[]>()
  const add = (name: unknown, value: unknown) => {
    const key = String(name).toLowerCase()
    const values = [value ?? []].flat().map(String)
    headers.set(key, [...(headers.get(key) ?? []), ...values])
  }
  if (Array.isArray(given))
    for (let at = 0; at < given.length; at += 2) add(given[at], given[at + 1])
  else if (typeof given === 'object')
    for (const [name, value] of Object.entries(given ?? {})) add(name, value)
  return headers
}

/** The bytes of a piece, as Node would send them. */
function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string')
    return Buffer.from(
      chunk,
      // Buffer refuses unknown encodings, as Node does.
      typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8',
    )
  // The handler may use its buffer again.
  if (isBytes(chunk)) return new Uint8Array(chunk)
  throw Object.assign(
    new TypeError(
      `The "chunk" argument must be of type string or an instance of Buffer or Uint8Array, not ${typeof chunk}.`,
    ),
    { code: 'ERR_INVALID_ARG_TYPE' },
  )
}

/** True for bytes of any realm. */
const isBytes = (value: unknown): value is Uint8Array =>
  Object.prototype.toString.call(value) === '[object Uint8Array]'

/** Collects what is written, up to a limit. */
function collect(most: number): {
  /** False when more was written than allowed. */
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

function toResponse(
  response: ExpressResponse,
  body: Uint8Array<ArrayBuffer>,
): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.getHeaders()))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  const { statusCode: status, statusMessage: statusText = '' } = response
  const isEmpty = [204, 205, 304].includes(status)
  return new Response(isEmpty ? null : body, { status, statusText, headers })
}
