const errors: WeakMap<Response, string> = /* @__PURE__ */ new WeakMap()

/**
 * Marks an answer that the gate itself gives, in place of the handler's answer.
 * The mark does not depend on status, headers or body, which a handler may
 * choose like the gate.
 */
export function markOwn(answer: Response, error: string): Response {
  errors.set(answer, error)
  return answer
}

/**
 * Returns the error of an answer that the gate itself gave. Returns `undefined`
 * for the answer of a handler.
 */
export function errorOf(answer: Response): string | undefined {
  return errors.get(answer)
}
