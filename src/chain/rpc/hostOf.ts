/** Host of a URL, without its path, which may hold a key, and credentials. */
export function hostOf(url: unknown): string | undefined {
  return /^\w+:\/\/([^/?#]*@)?([^/?#]+)/.exec(String(url))?.[2]
}
