import type { WebhookTools } from './types.js'

/**
 * Shares one lookup of a host among all who ask. The system has few threads for
 * lookups, and a name server that hangs must not take them all.
 */
export function shareLookups(
  lookup: WebhookTools['lookup'],
): WebhookTools['lookup'] {
  const asked = new Map<string, Promise<readonly string[]>>()
  return (host) => {
    const known = asked.get(host)
    if (known) return known
    const asking = lookup(host).finally(() => asked.delete(host))
    asked.set(host, asking)
    return asking
  }
}
