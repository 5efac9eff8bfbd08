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
  const cookies = given.getSetCookie()
  const before = inFront.getSetCookie()
  const hasAll = before.every((one) => cookies.includes(one))
  for (const one of cookies)
    if (!hasAll || !before.includes(one)) headers.append(cookie, one)
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
    if (!removed.includes(name) && !isCacheField(name) && !framing.has(name))
      headers.append(name, value)
  for (const [name, value] of given)
    if (name === cookie) headers.append(name, value)
    else if (name !== removedHeader) headers.set(name, value)
  return withHeaders(answer, headers)
}

const cookie = 'set-cookie'

/** Headers that belong to one body. */
const framing: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'content-length',
  'transfer-encoding',
])

function withHeaders(
  { body, status, statusText }: Response,
  headers: Headers,
): Response {
  return new Response(body, { status, statusText, headers })
}
