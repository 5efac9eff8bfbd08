/**
 * Loads `ownUrl.js` only when it is needed. Jest and other test runners
 * translate modules to CommonJS, where `import.meta` is a syntax error.
 */
export async function findOwnUrl(): Promise<string | undefined> {
  return import('./ownUrl.js').then(
    ({ ownUrl }) => ownUrl,
    () => undefined,
  )
}
