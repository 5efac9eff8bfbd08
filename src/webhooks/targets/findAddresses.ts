import { lookup } from 'node:dns/promises'
import { isPublicAddress } from './isPublicAddress.js'
import type { CheckedTarget, WebhookTools } from './types.js'

/** All addresses of a host, or why none of them may be connected to. */
type FoundAddresses =
  | { ok: true; addresses: readonly string[] }
  | { ok: false; reason: 'addressRefused' | 'hostUnknown' }

/**
 * Looks a target's host up, and refuses it if one of its addresses is not
 * public: a name that answers with both kinds is up to something.
 */
export async function findAddresses(
  { url, isPrivateAllowed }: CheckedTarget,
  { lookup }: Pick<WebhookTools, 'lookup'>,
): Promise<FoundAddresses> {
  const addresses = await lookup(hostOf(url)).catch(() => [])
  if (addresses.length === 0) return { ok: false, reason: 'hostUnknown' }
  if (isPrivateAllowed || addresses.every(isPublicAddress))
    return { ok: true, addresses }
  return { ok: false, reason: 'addressRefused' }
}

/** Asks the system, whose answer is not asked for a second time. */
export async function lookupHost(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

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

/** An address without its brackets, and a name without its last dot. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}
