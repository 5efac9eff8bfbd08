import { BlockList, isIP } from 'node:net'

/**
 * IPv4 ranges with a special purpose (IANA registry), and the address at which
 * Azure serves metadata, which has credentials, to its machines.
 */
const refused4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const

/**
 * IPv6 ranges with a special purpose inside 2000::/3, the public range.
 * Everything outside that is refused anyway: loopback, unspecified, mapped IPv4
 * (::ffff:0:0/96), NAT64 (64:ff9b::/96), unique local, link-local, multicast.
 */
const refused6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
] as const

/**
 * True for an address that a public host on the internet can have. A request to
 * another address could reach a service in the merchant's own network.
 */
export function isPublicAddress(address: string): boolean {
  // `fe80::1%eth0`: a zone after `%` limits an address to one network link, so
  // it is not public, and `BlockList` ignores zones.
  if (address.includes('%')) return false
  const version = isIP(address)
  if (version === 4) return !lists().ipv4.check(address, 'ipv4')
  const { global, ipv6 } = lists()
  return (
    version === 6 &&
    global.check(address, 'ipv6') &&
    !ipv6.check(address, 'ipv6')
  )
}

type Lists = Record<'ipv4' | 'ipv6' | 'global', BlockList>

let made: Lists | undefined

function lists(): Lists {
  made ??= {
    ipv4: listOf(refused4, 'ipv4'),
    ipv6: listOf(refused6, 'ipv6'),
    global: listOf([['2000::', 3]], 'ipv6'),
  }
  return made
}

function listOf(
  subnets: readonly (readonly [string, number])[],
  type: 'ipv4' | 'ipv6',
): BlockList {
  const list = new BlockList()
  for (const [net, prefix] of subnets) list.addSubnet(net, prefix, type)
  return list
}
