/**
 * Returns the address to lead back to, if the shop allows it; else `undefined`.
 * An allowed address that ends with a slash allows all addresses below it.
 */
export function chooseReturn(
  given: string,
  allowed: readonly URL[],
): string | undefined {
  let url: URL
  try {
    url = new URL(given)
  } catch {
    return undefined
  }
  if (url.username || url.password) return undefined
  const isAllowed = allowed.some(
    ({ origin, pathname }) =>
      origin === url.origin &&
      (pathname === url.pathname ||
        (pathname.endsWith('/') && url.pathname.startsWith(pathname))),
  )
  return isAllowed ? url.href : undefined
}
