/**
 * True for a `Uint8Array`. Unlike `instanceof`, also true for one of another
 * JavaScript realm, such as a test runner's.
 */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === '[object Uint8Array]'
}

/** The same for an `ArrayBuffer`. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}
