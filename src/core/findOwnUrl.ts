/**
 * Imports `ownUrl.js` only here: a test runner that translates modules to
 * CommonJS, as Jest does, cannot read `import.meta`.
 */
export async function findOwnUrl(): Promise<string | undefined> {
  return import('./ownUrl.js').then(
    ({ ownUrl }) => ownUrl,
    () => undefined,
  )
}
