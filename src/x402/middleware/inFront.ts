import { isCacheField } from '../wire/isCacheField.js'

/**
 * Header of an answer inside the gate: the names of the headers in front that
 * the handlers removed.
 */
const removedHeader = 'countersign-removed'

/**
 * Removes the headers that middleware in front of the gate has set from the
 * answer of the handlers. A kept answer must not carry the request id or the
 * cookies of one request into the answer to another.
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
 * Adds the headers that middleware in front of the gate has set for this
 * request. The inverse of {@link withoutFront}. Leaves out those for caches,
 * because the gate's own replace them.
 */
export function withFront(inFront: Headers, answer: Response): Response {
  const { headers: given } = answer
  const removed = given.get(removedHeader)?.split(',') ?? []
  const headers = new Headers()
  for (const [name, value] of inFront)
    if (!removed.includes(name) && !isCacheField(name))
      headers.append(name, value)
  for (const [name, value] of given)
    if (name === cookie) headers.append(name, value)
    else if (name !== removedHeader) headers.set(name, value)
  return withHeaders(answer, headers)
}

/**
 * The part of the answer to a preflight that a browser asks for. A handler of
 * all methods runs for it, too, and nothing that it sells may leave unpaid.
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

/** All cookies, if the handlers removed some that were set in front. */
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
