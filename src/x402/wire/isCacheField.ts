/**
 * True for a header that tells caches how long to keep an answer. Includes
 * headers for one kind of cache, such as `CDN-Cache-Control` (RFC 9213), which
 * override `Cache-Control`.
 */
export function isCacheField(name: string): boolean {
  return /(cache|surrogate|edge)-control$|expires$/i.test(name)
}
