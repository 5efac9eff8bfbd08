/**
 * Removes text that may be secret: digits, hex or base64 in a row longer than
 * an address, even with separators in between, and bytes that are not text.
 */
export function redact(text: string): string {
  const safe = hideBytes(text)
    .replace(/(0x)?[\da-f]{41,}/gi, '0x…')
    .replace(/[\w+/-]{43,}=*/g, '…')
    .replace(
      /\b(0x)?[\da-f]{1,32}([^\da-z]{1,4}(0x)?[\da-f]{1,32})+\b/gi,
      (groups) => (/([\da-f][^\da-f]*){32}/i.test(groups) ? '…' : groups),
    )
  // Cuts long text at a space. Half of a secret at the cut would not match the
  // patterns above.
  return safe.length > 500 ? safe.slice(0, 500).replace(/\S+$/, '…') : safe
}

/**
 * Removes binary data that was decoded as text, also in the form of escapes
 * such as `\\x8b`.
 */
export function hideBytes(text: string): string {
  const plain = text.replace(/\S+/g, (word) =>
    /\\[xu][\da-f]{2}/i.test(word) ? '…' : word,
  )
  // Finds control characters and U+FFFD, which stands for a byte that is not
  // text. Other bytes of the same secret can look like letters, so everything
  // from the first to the last of these characters is removed.
  return /[^\P{Cc}\s]|\ufffd/u.test(plain)
    ? plain.replace(/\S*[^ -~].*[^ -~]\S*|\S*[^ -~]\S*/s, '…')
    : plain
}
