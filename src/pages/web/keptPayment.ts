/**
 * Payments are stored in cookies. The browser sends them with its next request
 * for the same address, so the browser itself shows the paid answer.
 */

const prefix = 'countersign-'

/**
 * Most characters of all payments at one address. Servers refuse long headers:
 * some limit a line to 8 kB, some all lines together to 16 kB.
 */
const mostKept = 5_000

/**
 * The first is for a page of its own. The second is for a page in a frame of
 * another site: some browsers allow cookies there, separate for each such site.
 */
const places = ['samesite=lax', 'samesite=none;secure;partitioned'] as const

/** Returns the value of a cookie. */
export function readKept(name: string): string | undefined {
  return listCookies().find(([one]) => one === name)?.[1]
}

/** Stores a payment. Returns false if the browser does not keep it. */
export function keepPayment(
  name: string,
  payment: string,
  seconds: number,
): boolean {
  dropOldest(payment.length)
  return keep(name, payment, seconds)
}

function keep(name: string, value: string, seconds: number): boolean {
  const path = cookiePath(location.pathname)
  return places.some((place) => {
    write(`${name}=${value};path=${path};max-age=${seconds};${place}`)
    return readKept(name) === value
  })
}

/**
 * Removes a cookie from every path of this address, and from every domain above
 * it: pages of other subdomains can set cookies there.
 */
export function dropKept(name: string): void {
  const { pathname, hostname } = location
  const paths = [...pathname].flatMap((character, at) =>
    character === '/'
      ? [pathname.slice(0, at) || '/', pathname.slice(0, at + 1)]
      : [],
  )
  const labels = hostname.split('.')
  const domains = labels.map((_, at) => `;domain=${labels.slice(at).join('.')}`)
  for (const path of new Set([...paths, cookiePath(pathname)]))
    for (const domain of ['', ...domains])
      for (const place of places)
        write(`${name}=;path=${path};max-age=0${domain};${place}`)
}

/** True if the browser keeps cookies of this page. */
export function canKeep(): boolean {
  const name = `${prefix}try`
  const isKept = keep(name, '1', 60)
  dropKept(name)
  return isKept
}

/** Returns the nonce of a stored payment, or an empty string. */
export function nonceOfKept(payment: string): string {
  try {
    const { nonce } = JSON.parse(atob(payment)).payload.authorization
    return typeof nonce === 'string' ? nonce : ''
  } catch {
    return ''
  }
}

/**
 * Returns the path for a cookie. It cannot contain a semicolon, so the cookie
 * of an address with one belongs to the folder of the address.
 */
function cookiePath(pathname: string): string {
  const [before = '', ...more] = pathname.split(';')
  return more.length > 0 ? before.slice(0, before.lastIndexOf('/') + 1) : before
}

function write(cookie: string): void {
  const isSecure = location.protocol === 'https:' && !cookie.includes(';secure')
  try {
    // biome-ignore lint/suspicious/noDocumentCookie: other ways are asynchronous or of few browsers
    document.cookie = isSecure ? `${cookie};secure` : cookie
  } catch {
    // The caller finds out when it reads the cookie.
  }
}

function listCookies(): [name: string, value: string][] {
  return readAll()
    .split('; ')
    .map((one) => {
      const at = one.indexOf('=')
      return [one.slice(0, at), one.slice(at + 1)]
    })
}

function readAll(): string {
  try {
    return document.cookie
  } catch {
    // A sandboxed frame has no cookies, and reading them throws.
    return ''
  }
}

function dropOldest(added: number): void {
  const own = listCookies().filter(([name]) => name.startsWith(prefix))
  let length = added + own.reduce((sum, [, value]) => sum + value.length, 0)
  for (const [name, value] of own) {
    if (length <= mostKept) return
    dropKept(name)
    length -= value.length
  }
}
