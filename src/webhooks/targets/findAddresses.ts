import { lookup } from 'node:dns/promises'
import { isPublicAddress } from './isPublicAddress.js'
import type { CheckedTarget, WebhookTools } from './types.js'

/** The addresses of a host, or why no connection may be made to it. */
type FoundAddresses =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; reason: 'addressRefused' | 'hostUnknown' }

/**
 * Looks up a target's host. Refuses the host if any of its addresses is
 * private: it may be an attempt to reach a service in the merchant's own
 * network.
 */
export async function findAddresses(
  { url, isPrivateAllowed }: CheckedTarget,
  { lookup }: Pick<WebhookTools, 'lookup'>,
): Promise<FoundAddresses> {
  const addresses = await lookup(hostnameOf(url)).catch(() => [])
  if (addresses.length === 0) return { ok: false, reason: 'hostUnknown' }
  if (isPrivateAllowed || addresses.every(isPublicAddress))
    return { ok: true, addresses }
  return { ok: false, reason: 'addressRefused' }
}

/** Looks up a host with the system's resolver, which knows `/etc/hosts`. */
export async function lookupHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Lets simultaneous calls for the same host share one lookup. By default Node
 * has four threads for lookups, and a name server that hangs could block them
 * all.
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

/**
 * Returns the host of a URL without the brackets of IPv6 and without a final
 * dot.
 */
export function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}
