/**
 * Returns the name of an error if it looks like the name of a class; otherwise
 * `Error`, because a name can hold any text, even a secret.
 */
export function errorName(thrown: unknown): string {
  const { name } = Object(thrown)
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? name : 'Error'
}
