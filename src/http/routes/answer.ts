import { toJson } from '../../core/toJson.js'

/** An answer in JSON, integers as decimal strings. */
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
