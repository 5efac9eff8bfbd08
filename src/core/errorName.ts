/**
 * The name of what was thrown, if an error class could have it; otherwise
 * `Error`, because any text can be put into the name, even a secret.
 */
export function errorName(thrown: unknown): string {
  const { name } = Object(thrown)
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'Error'
}
