import { isBytes } from '../../core/isBytes.js'
import type { HeaderValue } from './twinOf.js'

type Listener = (...given: never[]) => void

/** The part of a Node request that is needed to read its body. */
export type BodyRequest = {
  method: string
  headers: Readonly<Record<string, HeaderValue>>
  /** The result of a body parser that came before the gate. */
  body?: unknown
  /** True once the whole body has arrived. */
  complete: boolean
  destroyed: boolean
  /** True if any code has read from the body. */
  readableDidRead: boolean
  readableLength: number
  readableEncoding: BufferEncoding | null
  read(): unknown
  unshift(chunk: unknown, encoding?: BufferEncoding): void
  pause(): unknown
  resume(): unknown
  rawListeners(name: string): unknown[]
  on(name: string, listener: Listener): unknown
  removeListener(name: string, listener: Listener): unknown
}

type RequestBody = {
  content: Uint8Array<ArrayBuffer> | string | ReadableStream | null
  /** True if earlier middleware read the body and did not keep it. */
  isLost: boolean
  /** Makes the body readable again, for the handlers. */
  giveBack(): void
  /**
   * Reads the rest of the body and drops it, so that the connection can take
   * the next request.
   */
  discard(): void
}

/** Returns the body of a request. Begins to read it only when the gate does. */
export function toBody(request: BodyRequest): RequestBody {
  const { method, headers, body } = request
  const read = (content: RequestBody['content']): RequestBody => ({
    content,
    isLost: false,
    giveBack: () => undefined,
    discard: () => undefined,
  })
  if (method === 'GET' || method === 'HEAD') return read(null)
  // A body parser has read the body, so its result is used instead.
  if (isBytes(body)) return read(new Uint8Array(body))
  if (body !== undefined) return read(JSON.stringify(body) ?? null)
  const isSent =
    headers['transfer-encoding'] !== undefined ||
    Number(headers['content-length']) > 0
  if (!isSent) return read(null)
  if (request.readableDidRead) return { ...read(null), isLost: true }
  return toUnread(request)
}

/**
 * Reads a body that nobody has read. Puts it back before Node announces its
 * end, so that the handlers can read it again.
 */
function toUnread(request: BodyRequest): RequestBody {
  const inFront = takeListeners(request)
  const chunks: unknown[] = []
  let hasBegun = false
  const pull = async (controller: ReadableStreamDefaultController) => {
    hasBegun = true
    while (request.readableLength === 0 && !request.complete) {
      if (request.destroyed)
        throw new Error('The client closed the connection.')
      await nextData(request)
    }
    // Does not call `read()` after the last byte: Node would announce the end,
    // and nothing could be put back.
    if (request.readableLength > 0) {
      const chunk = request.read()
      chunks.push(chunk)
      return controller.enqueue(toBytes(chunk, request.readableEncoding))
    }
    controller.close()
    for (const chunk of chunks.splice(0).reverse())
      request.unshift(chunk, request.readableEncoding ?? undefined)
  }
  return {
    content: new ReadableStream({ pull }, { highWaterMark: 0 }),
    isLost: false,
    giveBack: inFront.giveBack,
    discard: () => {
      inFront.giveBack()
      // If reading never began, Node itself drops the body.
      if (hasBegun) request.resume()
    },
  }
}

/**
 * Removes the `data` listeners of earlier middleware until the body is given
 * back. Otherwise they would get each byte twice: when the gate reads the body,
 * and when the handlers do.
 */
function takeListeners(request: BodyRequest): { giveBack(): void } {
  const listeners = request.rawListeners('data') as Listener[]
  for (const listener of listeners) request.removeListener('data', listener)
  if (listeners.length > 0) request.pause()
  return {
    giveBack: () => {
      const taken = listeners.splice(0)
      for (const listener of taken) request.on('data', listener)
      if (taken.length > 0) request.resume()
    },
  }
}

/** Waits until there may be more to read, or until the connection has ended. */
function nextData(request: BodyRequest): Promise<void> {
  const names = ['readable', 'close', 'error']
  return new Promise((resolve) => {
    const end = () => {
      for (const name of names) request.removeListener(name, end)
      resolve()
    }
    for (const name of names) request.on(name, end)
  })
}

function toBytes(chunk: unknown, encoding: BufferEncoding | null): Uint8Array {
  return isBytes(chunk) ? chunk : Buffer.from(String(chunk), encoding ?? 'utf8')
}
