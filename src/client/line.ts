import type { MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import type { ProblemError, ServerError } from './errors.js'

/** Where the server is, and how the client sends requests to it. */
export type ConnectionParameters = {
  /** Address of the server's routes, with their prefix, such as `/payments`. */
  url: string
  /**
   * How often a request is retried after a transient failure. A stream is
   * opened again without this limit, as long as you follow it.
   * @default 4
   */
  retries?: number | undefined
  /** Called with each failure after which the client tries again. */
  onRetry?: ((error: ProblemError | ServerError) => void) | undefined
  /**
   * Function that sends a request.
   * @default the runtime's `fetch`
   */
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

export const connectionMembers: MembersOf<ConnectionParameters> = {
  url: true,
  retries: true,
  onRetry: true,
  fetch: true,
}

/** The checked parameters of a client, which all its requests use. */
export type Line = {
  url: string
  /** Secret that is sent as `Authorization: Bearer …`. */
  token: string | undefined
  retries: number
  onRetry: (error: ProblemError | ServerError) => void
  fetch: (request: Request) => Promise<Response>
}

/**
 * Checks the parameters that all clients have.
 *
 * @throws {@link InvalidFieldError} when one is malformed.
 */
export function openLine(
  { url, retries = 4, onRetry = () => {}, ...given }: ConnectionParameters,
  token: string | undefined,
): Line {
  // The error does not show the URL, because it may contain a password.
  if (!isAddress(url))
    throw new InvalidFieldError(
      'url',
      url,
      'an address such as https://shop.example/payments',
    )
  return {
    url: url.replace(/\/+$/, ''),
    token,
    retries,
    onRetry,
    // Calls `fetch` as a function, not as a method: browsers refuse it with
    // another `this`.
    fetch: given.fetch ?? ((request) => fetch(request)),
  }
}

/**
 * True for an `http:` or `https:` URL without a query. In a page, a path such
 * as `/payments` counts too, because the browser completes it with the address
 * of the page.
 */
function isAddress(url: string): boolean {
  try {
    return !/[?#]/.test(url) && /^https?:/.test(new Request(url).url)
  } catch {
    return false
  }
}

/**
 * @throws {@link InvalidFieldError} when the text is empty, not a string, or
 * has half of a character, which no URL can contain.
 */
export function parseText(text: string, field: string): string {
  if (typeof text === 'string' && text && !/\p{Cs}/u.test(text)) return text
  throw new InvalidFieldError(field, text, 'a text that is not empty')
}

/**
 * @throws {@link InvalidFieldError} when the text is empty, not a string, or
 * cannot be sent in a header.
 */
export function parseHeader(text: string, field: string): string {
  if (isHeader(parseText(text, field))) return text
  throw new InvalidFieldError(
    field,
    text,
    'a text without line breaks, in characters up to U+00FF',
  )
}

/** True for the value of a header: `fetch` refuses to send any other. */
export function isHeader(text: string): boolean {
  return /^[^\0\r\n\u0100-\uffff]*$/.test(text)
}
