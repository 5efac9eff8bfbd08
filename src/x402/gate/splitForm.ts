/** The one boundary in a content type, as its parameter, quoted or not. */
const form =
  /^multipart\/form-data\s*;\s*boundary=("?)([\w'()+,./:=?-]{1,70})\1\s*$/i

const lineEnd = '\r\n'

/**
 * Splits the body of a form into its parts, each with its header. Returns
 * `undefined` if the content type is not that of a form, or the body is not
 * exactly parts between boundaries.
 */
export function splitForm(
  contentType: string,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer>[] | undefined {
  const [, , boundary] = form.exec(contentType) ?? []
  if (boundary === undefined) return undefined
  // One character for each byte.
  const text = lineEnd + latin1(bytes)
  const [preamble, ...rest] = text.split(`${lineEnd}--${boundary}`)
  const end = rest.pop()
  const isWhole = preamble === '' && (end === '--' || end === `--${lineEnd}`)
  if (!isWhole || rest.some((part) => !part.startsWith(lineEnd)))
    return undefined
  return rest.map((part) =>
    Uint8Array.from(part.slice(lineEnd.length), (one) => one.charCodeAt(0)),
  )
}

/** Decodes a piece at a time: a call has a limited number of arguments. */
function latin1(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)))
  return pieces.join('')
}
