const x402Headers = [
  'payment-required',
  'payment-signature',
  'payment-response',
]

/** `fetch` that tells each request and answer, with the headers of x402. */
export function tellExchange(tell: (line: string) => void): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    tell(`\n> ${request.method} ${request.url}`)
    tellHeaders('>', request.headers, tell)
    const response = await fetch(request)
    tell(`< ${response.status} ${response.statusText}`)
    tellHeaders('<', response.headers, tell)
    return response
  }
}

function tellHeaders(
  side: string,
  headers: Headers,
  tell: (line: string) => void,
): void {
  const caching = headers.get('cache-control')
  if (caching) tell(`${side} Cache-Control: ${caching}`)
  for (const name of x402Headers) {
    const value = headers.get(name)
    if (value) tell(`${side} ${name.toUpperCase()}: ${open(value)}`)
  }
}

/** The JSON of a header. A signature is a credential: it is not shown. */
function open(header: string): string {
  const bytes = Uint8Array.from(atob(header), (one) => one.charCodeAt(0))
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
  return JSON.stringify(
    value,
    (name, member) => {
      if (name === 'signature') return '0x…'
      // How identifiers look is of no interest here.
      return name === 'schema' ? undefined : member
    },
    2,
  )
}
