/**
 * Returns the host of a URL, without credentials and the path, which may
 * contain a key.
 */
export function hostOf(url: unknown): string | undefined {
  return /^\w+:\/\/([^/?#]*@)?([^/?#]+)/.exec(String(url))?.[2]
}
