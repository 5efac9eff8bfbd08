import type { MembersOf } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import type { ProblemError, ServerError } from './errors.js'

/** Where the server is, and how the client sends requests to it. */
export type ConnectionParameters = {
  /** Address of the routes with their prefix, such as `/payments`. */
  url: string
  /**
   * How often a request is retried after a transient failure. Streams are
   * reopened as long as you follow them. @default 4
   */
  retries?: number | undefined
  /** Called with each failure after which the client tries again. */
  onRetry?: ((error: ProblemError | ServerError) => void) | undefined
  /** Sends a request. @default the runtime's `fetch` */
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

export const connectionMembers: MembersOf<ConnectionParameters> = {
  url: true,
  retries: true,
  onRetry: true,
  fetch: true,
}

/** The checked parameters of a client. */
export type Line = {
  url: string
  /** Goes into `Authorization`. */
  token: string | undefined
  retries: number
  onRetry: (error: ProblemError | ServerError) => void
  fetch: (request: Request) => Promise<Response>
}

/**
 * Checks the parameters that all clients have.
 *
 * @throws {@link InvalidFieldError}
 */
export function openLine(
  { url, retries = 4, onRetry = () => {}, ...given }: ConnectionParameters,
  token: string | undefined,
): Line {
  // The URL is not shown, because it may contain a password.
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
    // Not called as a method: browsers refuse `fetch` with another `this`.
    fetch: given.fetch ?? ((request) => fetch(request)),
  }
}

/**
 * True for a URL without query. In a page, a path such as `/payments` is one
 * too, because the address of the page completes it.
 */
function isAddress(url: string): boolean {
  try {
    return !/[?#]/.test(url) && !!new Request(url)
  } catch {
    return false
  }
}

/** @throws {@link InvalidFieldError} */
export function parseText(text: string, field: string): string {
  if (typeof text === 'string' && text) return text
  throw new InvalidFieldError(field, text, 'a text that is not empty')
}
