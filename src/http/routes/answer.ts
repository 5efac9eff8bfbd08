import { toJson } from '../../core/toJson.js'

/** Builds a JSON response, with integers as decimal strings. */
export function answer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(toJson(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}
