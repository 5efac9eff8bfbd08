/**
 * Returns the name of the key that sealed a secret: the text before the first
 * space. Returns empty text if there is no space, as in a secret that is not
 * sealed.
 */
export function sealKeyOf(sealed: string): string {
  return sealed.slice(0, Math.max(0, sealed.indexOf(' ')))
}
