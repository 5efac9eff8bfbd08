import { isCacheField } from '../wire/isCacheField.js'

/**
 * An internal header that is never sent to a client. It lists headers that
 * middleware before the gate had set, and that the handlers removed.
 */
const removedHeader = 'countersign-removed'

/**
 * Removes from the handlers' answer the headers that middleware before the gate
 * set for this request. The answer is stored and given to later requests, which
 * must not get the request id or the cookies of this one.
 */
export function withoutFront(inFront: Headers, answer: Response): Response {
  const { headers: given } = answer
  const headers = new Headers()
  for (const [name, value] of given)
    if (name !== cookie && inFront.get(name) !== value) headers.set(name, value)
  const { own, hasAll } = ownCookies(inFront, given)
  for (const one of own) headers.append(cookie, one)
  const removed = [...inFront.keys()].filter((name) =>
    name === cookie ? !hasAll : !given.has(name),
  )
  if (removed.length > 0) headers.set(removedHeader, removed.join())
  return withHeaders(answer, headers)
}

/**
 * Adds the headers that middleware before the gate has set for this request.
 * The inverse of {@link withoutFront}. Leaves out headers for caches: the gate
 * sets its own, which keep paid answers out of caches. Leaves out headers that
 * Node would refuse to send.
 */
export function withFront(inFront: Headers, answer: Response): Response {
  const { headers: given } = answer
  const removed = given.get(removedHeader)?.split(',') ?? []
  const headers = new Headers()
  for (const [name, value] of [...inFront].filter(isSendable))
    if (!removed.includes(name) && !isCacheField(name))
      headers.append(name, value)
  for (const [name, value] of [...given].filter(isSendable))
    if (name === cookie) headers.append(name, value)
    else if (name !== removedHeader) headers.set(name, value)
  return withHeaders(answer, headers)
}

/**
 * Builds the answer to a CORS preflight request, with only the CORS headers. A
 * handler that serves every method also runs for a preflight. Its answer is not
 * paid for, so it must not contain what the handler sells.
 */
export function toPreflightAnswer(
  inFront: Headers,
  { status, headers: given }: Response,
): Response {
  const headers = new Headers(inFront)
  for (const [name, value] of given)
    if (/^(access-control-.+|allow|vary)$/.test(name)) headers.set(name, value)
  return new Response(null, { status, headers })
}

const cookie = 'set-cookie'

/**
 * False for a header that Node may refuse to send, which can end the process of
 * a server: `Trailer` next to a length, and a control character, which `Headers`
 * allows.
 */
const isSendable = ([name, value]: [string, string]): boolean =>
  name !== 'trailer' && !/[^\t\x20-\x7e\x80-\xff]/.test(value)

/**
 * Returns the cookies that the handlers set. If they removed a cookie that was
 * set before the gate, returns all cookies that are left, and `hasAll` is
 * false.
 */
function ownCookies(
  inFront: Headers,
  given: Headers,
): { own: readonly string[]; hasAll: boolean } {
  const own = given.getSetCookie()
  for (const one of inFront.getSetCookie()) {
    const at = own.indexOf(one)
    if (at < 0) return { own: given.getSetCookie(), hasAll: false }
    own.splice(at, 1)
  }
  return { own, hasAll: true }
}

function withHeaders(
  { body, status, statusText }: Response,
  headers: Headers,
): Response {
  return new Response(body, { status, statusText, headers })
}
