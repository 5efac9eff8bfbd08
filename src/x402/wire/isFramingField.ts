const fields: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'connection',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
])

/**
 * True for a header that says how an answer is sent over one connection. The
 * server that sends the answer sets these headers itself. A copied answer leaves
 * them out: Node refuses some of them together, such as `Trailer` and
 * `Content-Length`.
 *
 * @param name in lower case.
 */
export const isFramingField = (name: string): boolean => fields.has(name)
