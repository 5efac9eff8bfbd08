import { Problem, Unreachable } from './Problem.js'

export type AskShopParameters = {
  /** JSON text; makes it a POST. */
  body?: string | undefined
  token?: string | undefined
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Asks the page's own origin, and gives only an answer that is one.
 *
 * @throws {@link Problem} when the shop says no.
 * @throws {@link Unreachable} when it says nothing.
 */
export async function askShop(
  path: string,
  { body, token, headers, signal }: AskShopParameters = {},
): Promise<Response> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    cache: 'no-store',
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new Unreachable()
  })
  if (!response.ok)
    throw new Problem(response, await response.json().catch(() => undefined))
  return response
}

/** The same, read as JSON. */
export async function askJson<value>(
  path: string,
  parameters?: AskShopParameters,
): Promise<value> {
  const response = await askShop(path, parameters)
  // The answers of the page's own backend have the types they are asked for.
  return response.json().catch(() => {
    throw new Unreachable()
  }) as Promise<value>
}
