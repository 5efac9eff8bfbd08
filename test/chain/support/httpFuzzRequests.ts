import { base } from './httpFuzzWorld.js'

export type SentBody =
  | { kind: 'none' }
  | { kind: 'text'; text: string }
  | { kind: 'bytes'; bytes: Uint8Array<ArrayBuffer> }
  /** So many pieces of so many bytes; `broken` where it ends in a fault. */
  | { kind: 'pieces'; count: number; size: number; broken: boolean }

/** A request, as it is written down when it finds something. */
export type Plan = {
  method: string
  path: string
  headers: readonly (readonly [string, string])[]
  body: SentBody
}

/** Nothing where no client could send such a request. */
export function requestOf({
  method,
  path,
  headers,
  body,
}: Plan): Request | undefined {
  const mayHaveBody = !/^(get|head)$/i.test(method)
  try {
    const sent = new Headers()
    for (const [name, value] of headers) sent.append(name, value)
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: sent,
      duplex: 'half',
    }
    // What a text says of itself would stand in for a content type left out.
    if (mayHaveBody && body.kind !== 'none') init.body = streamOf(body)
    return new Request(`${base}${path}`, init)
  } catch {
    return undefined
  }
}

function streamOf(body: Exclude<SentBody, { kind: 'none' }>): BodyInit {
  if (body.kind === 'text') return new TextEncoder().encode(body.text)
  if (body.kind === 'bytes') return body.bytes
  let left = body.count
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(new Uint8Array(body.size).fill(0x20))
      else if (body.broken) controller.error(new Error('gone'))
      else controller.close()
    },
  })
}
