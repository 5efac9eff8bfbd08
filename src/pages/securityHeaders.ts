type SecurityParameters = {
  /** Other origins that scripts may send requests to. */
  connect?: readonly string[] | undefined
  /** Sites that may show the page in a frame. */
  frameAncestors?: readonly string[] | undefined
}

/** The headers of every answer: what a page may load, and who may embed it. */
export function securityHeaders({
  connect = [],
  frameAncestors = [],
}: SecurityParameters): readonly (readonly [name: string, value: string])[] {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...connect].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.join(' ') || "'none'"}`,
  ]
  return [
    ['content-security-policy', policy.join('; ')],
    ['referrer-policy', 'no-referrer'],
    ['x-content-type-options', 'nosniff'],
  ]
}
