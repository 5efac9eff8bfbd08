/**
 * The URL of this file; `undefined` in a CommonJS bundle, which does not know
 * it.
 */
export const ownUrl: string | undefined = import.meta.url
