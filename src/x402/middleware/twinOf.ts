/** The part of a Node response that handlers write to. */
export type ServerResponse = {
  statusCode: number
  statusMessage: string
  getHeaders(): Readonly<Record<string, HeaderValue>>
  removeHeader(name: string): void
  setHeader(name: string, value: HeaderValue): unknown
  emit(name: string, ...given: readonly unknown[]): unknown
  listenerCount(name: string): number
}

export type HeaderValue = string | number | readonly string[] | undefined

type Twin = ServerResponse & {
  on(name: string, listener: (given: unknown) => void): unknown
}

/** A response without a connection, to which everything is written first. */
export type TwinResponse = {
  /**
   * Calls a method of the twin.
   *
   * @throws what Node throws, if it refuses the call.
   */
  call(method: string, given: readonly unknown[]): unknown
  /**
   * Writes the head of the twin. Sets its status and headers on the original
   * too.
   *
   * @throws what Node throws, if it refuses the head.
   */
  writeHead(status: unknown, given: readonly unknown[]): void
  /**
   * True if Node would send the head as UTF-8: it sends the head together with
   * a first text of that encoding, and otherwise as Latin-1.
   */
  isHeadUtf8(): boolean
}

/**
 * Creates a second response of Node's own class that has no connection. Node
 * judges on it what handlers write, so that handlers get the errors that they
 * would get without a gate, and nothing is sent.
 *
 * @param beginHead called when Node would write the head by itself.
 */
export function twinOf(
  response: ServerResponse,
  beginHead: () => void,
): TwinResponse {
  const twin: Twin = Reflect.construct(Reflect.get(response, 'constructor'), [
    Reflect.get(response, 'req'),
  ])
  // Node adds the headers of `writeHead` to the others only if others were set
  // at some time.
  twin.setHeader('trailer', '')
  let first: { isUtf8: boolean } | undefined
  const drop = (data: unknown, encoding: unknown, callback: unknown) => {
    const isUtf8 = !encoding || encoding === 'utf8'
    first ??= { isUtf8: typeof data === 'string' && isUtf8 }
    if (typeof callback === 'function') queueMicrotask(() => callback())
    return true
  }
  const replaced = { _send: drop, _writeRaw: drop, _implicitHeader: beginHead }
  for (const [name, value] of Object.entries(replaced))
    Reflect.set(twin, name, value)
  // Without a listener, the error would end the process.
  twin.on('error', (error) => {
    if (response.listenerCount('error') > 0) response.emit('error', error)
  })
  const call = (method: string, given: readonly unknown[]): unknown => {
    if (!isHeadSent(twin)) copy(response, twin)
    return Reflect.apply(Reflect.get(twin, method), twin, given)
  }
  return {
    call,
    writeHead: (status, given) => {
      const isTooLate = isHeadSent(twin)
      try {
        call('writeHead', [status, ...given.map(withoutRepeats)])
      } finally {
        if (!isTooLate) copyHead(twin, response)
      }
    },
    isHeadUtf8: () => first?.isUtf8 === true,
  }
}

/**
 * True once the headers count as sent: Node then has their text in `_header`.
 */
export const isHeadSent = (response: object): boolean =>
  typeof Reflect.get(response, '_header') === 'string'

/** Copies headers, reason phrase and switches, such as `strictContentLength`. */
function copy(from: ServerResponse, to: Twin): void {
  for (const name of Object.keys(to.getHeaders())) to.removeHeader(name)
  copyHead(from, to)
  for (const key of Reflect.ownKeys(to)) {
    const value: unknown = Reflect.get(from, key)
    if (typeof value === 'boolean') Reflect.set(to, key, value)
  }
}

/**
 * Copies status, reason phrase and headers. Copies lists, because Node changes
 * some in place.
 */
function copyHead(from: ServerResponse, to: ServerResponse): void {
  to.statusCode = from.statusCode
  to.statusMessage = from.statusMessage
  const known = to.getHeaders()
  for (const [name, value] of Object.entries(from.getHeaders()))
    if (known[name] !== value)
      to.setHeader(name, Array.isArray(value) ? [...value] : value)
}

/**
 * Headers passed to `writeHead` may be a list in which names and values
 * alternate. Puts values of the same name together, because some versions of
 * Node would set only the last one.
 */
function withoutRepeats(given: unknown): unknown {
  if (!Array.isArray(given) || given.length % 2 !== 0) return given
  const headers = new Map<string, unknown>()
  for (let at = 0; at < given.length; at += 2) {
    const name = String(given[at]).toLowerCase()
    const value: unknown = given[at + 1]
    headers.set(
      name,
      headers.has(name) ? [headers.get(name), value].flat() : value,
    )
  }
  return Object.fromEntries(headers)
}
