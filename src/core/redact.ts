/**
 * Removes text that may be secret: runs of digits, hex or base64 longer than an
 * address, also with separators in between, and bytes that are not text.
 */
export function redact(text: string): string {
  const safe = hideBytes(text)
    .replace(/(0x)?[\da-f]{41,}/gi, '0x…')
    .replace(/[\w+/-]{43,}=*/g, '…')
    .replace(
      /\b(0x)?[\da-f]{1,32}([^\da-z]{1,4}(0x)?[\da-f]{1,32})+\b/gi,
      (groups) => (/([\da-f][^\da-f]*){32}/i.test(groups) ? '…' : groups),
    )
  // Also removes the word at the cut: the patterns above do not find half a
  // secret.
  return safe.length > 500 ? safe.slice(0, 500).replace(/\S+$/, '…') : safe
}

/** Removes bytes that were decoded as text, also as escapes such as `\\x8b`. */
export function hideBytes(text: string): string {
  const plain = text.replace(/\S+/g, (word) =>
    /\\[xu][\da-f]{2}/i.test(word) ? '…' : word,
  )
  // Looks for control characters and U+FFFD, which replaces a byte that is not
  // text. Between them, other bytes of the secret look like letters, so that
  // part goes too.
  return /[^\P{Cc}\s]|\ufffd/u.test(plain)
    ? plain.replace(/\S*[^ -~].*[^ -~]\S*|\S*[^ -~]\S*/s, '…')
    : plain
}
