import { lookup } from 'node:dns/promises'
import { isPublicAddress } from './isPublicAddress.js'
import type { CheckedTarget, WebhookTools } from './types.js'

/** All addresses of a host, or why it must not be connected to. */
type FoundAddresses =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; reason: 'addressRefused' | 'hostUnknown' }

/**
 * Looks up a target's host. Refuses it if any of its addresses is not public,
 * because a host with both kinds is suspicious.
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

/** Looks up a host with the system's resolver. */
export async function lookupHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Shares one lookup of a host between all callers. The system has few threads
 * for lookups, and a name server that hangs must not block them all.
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

/** Returns the host of a URL, without brackets and without a last dot. */
export function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}
