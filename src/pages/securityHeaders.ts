type SecurityParameters = {
  /** Where scripts may come from. @default the page's origin */
  script?: string | undefined
  /** Where style sheets may come from. @default the page's origin */
  style?: string | undefined
  /** Where scripts may send requests to. @default the page's origin */
  connect?: readonly string[] | undefined
  /** Sites that may show the page in a frame. */
  frameAncestors?: readonly string[] | undefined
}

/** The headers of every answer: what a page may load, and who may embed it. */
export function securityHeaders({
  script = "'self'",
  style = "'self'",
  connect = ["'self'"],
  frameAncestors = [],
}: SecurityParameters): readonly (readonly [name: string, value: string])[] {
  const policy = [
    "default-src 'none'",
    `script-src ${script}`,
    `style-src ${style}`,
    "img-src 'self' data:",
    ...(connect.length > 0 ? [`connect-src ${connect.join(' ')}`] : []),
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
