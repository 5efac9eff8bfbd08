/**
 * True for a header that says how long caches may keep an answer. Those for
 * certain caches, such as `CDN-Cache-Control` of RFC 9213, override
 * `Cache-Control`.
 */
export function isCacheField(name: string): boolean {
  return /(cache|surrogate|edge)-control$|expires$/i.test(name)
}
