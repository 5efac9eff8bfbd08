import type { WebhookTools } from './types.js'

/**
 * Asks for a host once at a time. The system has few threads for lookups: a name
 * server that hangs for one target must not take those of the others.
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
