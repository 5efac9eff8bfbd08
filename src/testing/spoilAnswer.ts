/**
 * Cuts the body an answer travels in and reads it as a transport would.
 *
 * @throws what `toError` makes of the parser's error.
 */
export function truncate(
  answer: unknown,
  detail: number,
  toError: (cause: Error) => Error,
): never {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer ?? null })
  const cut = body.slice(0, Math.floor(detail * (body.length - 1)))
  try {
    JSON.parse(cut)
  } catch (error) {
    throw toError(error instanceof Error ? error : new Error(String(error)))
  }
  throw toError(new SyntaxError('Unexpected end of JSON input'))
}

/** An answer of the right form with something wrong inside. */
export function mangle(answer: unknown, detail: number): unknown {
  if (typeof answer === 'string') return detail < 0.5 ? '0xnothex' : 12
  if (Array.isArray(answer)) {
    if (answer.length === 0) return {}
    const at = Math.floor(detail * answer.length)
    return answer.map((one, place) => (place === at ? null : one))
  }
  if (typeof answer !== 'object' || answer === null) return 'null'
  const names = Object.keys(answer)
  const name = names[Math.floor(detail * names.length)]
  return name === undefined ? [] : { ...answer, [name]: { not: 'this' } }
}
