import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'

/** Key, nonce and additional data to seal or open bytes. */
export type SealBytesParameters = {
  /** Key of the cipher, 32 bytes. */
  key: Uint8Array
  /** 24 bytes, never used with this key before. */
  nonce: Uint8Array
  /**
   * Authenticated, but not part of the sealed bytes. `openBytes` needs the same
   * value.
   */
  additional: Uint8Array
}

/** Encrypts bytes with XChaCha20-Poly1305. The last 16 bytes are the tag. */
export function sealBytes(
  plain: Uint8Array,
  { key, nonce, additional }: SealBytesParameters,
): Uint8Array {
  return xchacha20poly1305(key, nonce, additional).encrypt(plain)
}

/**
 * Decrypts bytes. Returns `undefined` if any bit of the sealed bytes or of the
 * parameters differs from those of `sealBytes`.
 */
export function openBytes(
  sealed: Uint8Array,
  { key, nonce, additional }: SealBytesParameters,
): Uint8Array | undefined {
  try {
    return xchacha20poly1305(key, nonce, additional).decrypt(sealed)
  } catch {
    return undefined
  }
}
