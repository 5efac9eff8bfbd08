export type HeaderValue = string | number | readonly string[] | undefined

/** The part of an Express response that we use. */
export type ExpressResponse = {
  statusCode: number
  getHeaders(): Readonly<Record<string, HeaderValue>>
  removeHeader(name: string): void
  setHeader(name: string, value: string | readonly string[]): unknown
  end(body: Uint8Array): unknown
  emit(name: string): unknown
}

/** A response that is held back from its client. */
type HeldResponse = {
  /** Returns the answer of the handlers. Called once, when they begin. */
  begin(): Promise<Response>
  /** True if the handlers gave no answer in time after the client left. */
  isAbandoned(): boolean
  /** Makes the response send again. */
  release(): void
}

const patched = [
  'write',
  'end',
  'writeHead',
  'flushHeaders',
  'writeContinue',
  'writeProcessing',
  'writeEarlyHints',
  'emit',
] as const

/**
 * Collects what handlers write, instead of sending it. An answer longer than
 * `most` bytes becomes a failure.
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
  const keep = (chunk: unknown) => {
    silence.restart()
    if (!silence.isOver()) collected.add(chunk)
  }
  const answer = new Promise<Response>((resolve, reject) => {
    const replacements = {
      write: (chunk: unknown, ...rest: unknown[]) => {
        keep(chunk)
        callBack(rest)
        return true
      },
      end: (chunk: unknown, ...rest: unknown[]) => {
        keep(chunk)
        callBack([chunk, ...rest])
        silence.stop()
        toResponse(response, collected.parts()).then(resolve, reject)
        return response
      },
      writeHead: (status: number, ...rest: unknown[]) => {
        response.statusCode = status
        for (const [name, values] of toHeaders(rest.at(-1)))
          response.setHeader(name, values)
        return response
      },
      flushHeaders: () => undefined,
      writeContinue: () => undefined,
      writeProcessing: () => undefined,
      writeEarlyHints: (...given: unknown[]) => callBack(given),
      emit: (name: string, ...rest: readonly []) => {
        if (name !== 'close') return emit(name, ...rest)
        hasLeft = true
        if (hasBegun) silence.start()
        return true
      },
    }
    for (const name of patched) Reflect.set(response, name, replacements[name])
  })
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
      socket.show()
      if (hasLeft) response.emit('close')
    },
  }
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
      fail(new Error('The client left, and the handler wrote no more.'))
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

function toBytes(chunk: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return typeof chunk === 'string'
    ? new TextEncoder().encode(chunk)
    : new Uint8Array(chunk)
}

/** Collects what is written, up to a limit. */
function collect(most: number): {
  add(chunk: unknown): void
  /** `undefined` when more was written than allowed. */
  parts(): readonly BlobPart[] | undefined
} {
  let parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  return {
    add: (chunk) => {
      if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
      const part = toBytes(chunk)
      length += part.byteLength
      if (length > most) parts = []
      else parts.push(part)
    },
    parts: () => (length > most ? undefined : parts),
  }
}

async function toResponse(
  response: ExpressResponse,
  parts: readonly BlobPart[] | undefined,
): Promise<Response> {
  if (!parts)
    return Response.json({ error: 'answer_too_long' }, { status: 500 })
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.getHeaders()))
    for (const one of [value ?? []].flat()) headers.append(name, String(one))
  const body = await new Blob([...parts]).arrayBuffer()
  const { statusCode: status } = response
  const isEmpty = [204, 205, 304].includes(status)
  return new Response(isEmpty ? null : body, { status, headers })
}
