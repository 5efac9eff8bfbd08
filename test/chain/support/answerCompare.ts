import { request as openRequest } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { PrivateKeyAccount } from 'viem'
import { isCacheField } from '../../../src/x402/wire/isCacheField.js'
import { signFor } from './x402Desk.js'

/** A request to both: the path that is sold, and the same one without a gate. */
export type AskedRequest = {
  method: string
  headers: Readonly<Record<string, string>>
  body?: string | Uint8Array | undefined
}

/** What a client sees of an answer, but for what belongs to the connection. */
export type SeenAnswer = {
  status: number
  reason: string
  headers: readonly string[]
  cookies: readonly string[]
  body: string
}

/** Headers of the gate, of the connection and of the clock. */
const aside: readonly string[] = [
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'payment-response',
  'set-cookie',
  'trailer',
  'transfer-encoding',
]

const isOurs = (name: string): boolean =>
  aside.includes(name) || isCacheField(name)

/** What a client sees of a response of the fetch standard. */
export async function seenOf(response: Response): Promise<SeenAnswer> {
  const { status, statusText: reason, headers } = response
  const bytes = Buffer.from(await response.arrayBuffer())
  // Equal texts in other pieces are compressed to other bytes.
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  const body = (isZipped ? gunzipSync(bytes) : bytes).toString('latin1')
  const others = [...headers].filter(([name]) => !isOurs(name))
  return {
    status,
    reason,
    headers: others.map(([name, value]) => `${name}: ${value}`).sort(),
    cookies: headers.getSetCookie(),
    body,
  }
}

type Answer = { response: Response; length: string | undefined }

/** Sends a request as it is: `fetch` would add headers of its own. */
const ask = (
  url: string,
  { method, headers, body }: AskedRequest,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = { method, headers, agent: false }
    const asked = openRequest(url, options, async (answer) => {
      const pairs: [string, string][] = []
      const { rawHeaders } = answer
      for (let at = 0; at < rawHeaders.length; at += 2)
        pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? ''])
      const chunks = await answer.toArray().catch(reject)
      const bytes = Buffer.concat(chunks ?? [])
      const { statusCode: status = 0, statusMessage: statusText = '' } = answer
      const isEmpty = [204, 205, 304].includes(status)
      resolve({
        response: new Response(isEmpty ? null : bytes, {
          status,
          statusText,
          headers: pairs,
        }),
        length: answer.headers['content-length'],
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })

/** The answer without a gate, the paid one, and the same one asked for again. */
export type Compared = {
  free: SeenAnswer
  sold: SeenAnswer
  /** `undefined` when the work failed, because it would run again. */
  kept: SeenAnswer | undefined
  /** Lengths, where the free answer says its own. */
  lengths: readonly (string | undefined)[]
}

/** Gets the answers to one request at an address with and without a gate. */
export async function compareAnswers(
  payer: PrivateKeyAccount,
  urls: { free: string; sold: string },
  request: AskedRequest,
): Promise<Compared> {
  const free = await ask(urls.free, request)
  const asked = await ask(urls.sold, request)
  // Middleware in front of the gate has answered.
  if (asked.response.status !== 402) {
    const sold = await seenOf(asked.response)
    return { free: await seenOf(free.response), sold, kept: sold, lengths: [] }
  }
  const header = await signFor(payer, asked.response)
  const headers = { ...request.headers, 'PAYMENT-SIGNATURE': header }
  const sold = await ask(urls.sold, { ...request, headers })
  const isGood = sold.response.status < 400
  const kept = isGood
    ? await ask(urls.sold, { ...request, headers })
    : undefined
  return {
    free: await seenOf(free.response),
    sold: await seenOf(sold.response),
    kept: kept && (await seenOf(kept.response)),
    lengths: free.length === undefined ? [] : [free.length, sold.length],
  }
}
