import { runWebhooks, WebhookTargetError } from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { findAddresses } from '../../../src/webhooks/targets/findAddresses.js'
import { isPublicAddress } from '../../../src/webhooks/targets/isPublicAddress.js'
import { createSecret } from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

/** The first and the last address of each network that is refused. */
const networks4 = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
] as const

const famous4 = [
  '127.0.0.1',
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '192.0.0.192',
  '192.168.1.1',
  '172.17.0.1',
  '255.255.255.255',
]

const refused6 = [
  '::',
  '::1',
  '::2',
  '::ffff:0:127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '100:0:0:1::1',
  '1fff:ffff::',
  '2001::',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8::1',
  '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
  '2002::',
  '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2620:4f:8000::1',
  '3fff::1',
  '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
  '4000::',
  '5f00::1',
  'fc00::',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe80::1',
  'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fec0::1',
  'ff00::',
  'ff02::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

const public4 = [
  '1.0.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '198.51.101.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
]

const public6 = [
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7:ffff::1',
  '2001:db9::1',
  '2003::1',
  '2606:4700:4700::1111',
  '2620:fe::fe',
  '3ffe:ffff::1',
  '3fff:1000::1',
]

const listed4 = [...new Set([...networks4.flat(), ...famous4])]

test.each([...public4, ...public6])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([...listed4, ...refused6])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test.each([
  'fe80::1%eth0',
  '2606:4700::1%eth0',
  '1.1.1.1%lo',
  '::ffff:1.1.1.1',
  '0x7f000001',
  '2130706433',
  '127.1',
  '0177.0.0.1',
  '1.1.1.1:443',
  '[2606:4700:4700::1111]',
  'localhost',
  '',
  ' 1.1.1.1',
])('%j, which is no plain address, is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

const hex = (part: number, width = 2): string =>
  part.toString(16).padStart(width, '0')

/** The ways in which a URL may spell an IPv4 address. */
function spellings4(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const parts = [a, b, c, d]
  const whole = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d
  const wide = [...address]
    .map((it) =>
      it === '.' ? '。' : String.fromCodePoint(0xff10 + Number(it)),
    )
    .join('')
  return [
    address,
    `${address}.`,
    String(whole),
    `0x${hex(whole, 8)}`,
    `0X${hex(whole, 8).toUpperCase()}`,
    `0x0000${hex(whole, 8)}`,
    `0${whole.toString(8)}`,
    parts.map((part) => `0x${hex(part)}`).join('.'),
    parts.map((part) => `0${part.toString(8)}`).join('.'),
    parts.map((part) => `000${part.toString(8)}`).join('.'),
    `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${b * 2 ** 16 + c * 256 + d}`,
    `0x${hex(a)}.0x${hex(b)}${hex(c)}${hex(d)}`,
    address.replaceAll('.', '%2e'),
    [...address].map((it) => `%${hex(it.charCodeAt(0))}`).join(''),
    wide,
  ]
}

/** The ways in which an IPv6 address may hold an IPv4 address. */
function embeddings(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const high = hex(a * 256 + b, 4)
  const low = hex(c * 256 + d, 4)
  return [
    `::ffff:${address}`,
    `::ffff:${high}:${low}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `0000:0000:0000:0000:0000:FFFF:${high.toUpperCase()}:${low}`,
    `::ffff:0:${address}`,
    `::${address}`,
    `64:ff9b::${address}`,
    `64:ff9b::${high}:${low}`,
    `64:ff9b:1::${address}`,
    `2002:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}:0:0:0:1`,
  ]
}

const hosts = [
  ...listed4.flatMap(spellings4),
  ...[...listed4, '1.1.1.1'].flatMap(embeddings).map((it) => `[${it}]`),
  ...refused6.map((it) => `[${it}]`),
]

/** What comes of a target at this host, before anything is sent. */
const startAt = (host: string, privateHosts: string[] = []) => {
  const { orders, store } = createStream()
  const url = `https://${host}/hooks`
  const target = { name: 'test', url, secrets: [createSecret()], privateHosts }
  return runWebhooks(orders, {
    store,
    targets: [target],
    signal: AbortSignal.abort(),
  })
}

test('an address that is not public is refused in each of its spellings', async () => {
  const taken: string[] = []
  for (const host of hosts) {
    const error = await startAt(host).catch((it: unknown) => it)
    if (!(error instanceof WebhookTargetError)) taken.push(host)
  }
  expect(taken).toEqual([])
  expect(hosts.length).toBeGreaterThan(1000)
})

test('a public address is taken in each of its spellings', async () => {
  for (const host of [...public4.flatMap(spellings4)])
    await expect(startAt(host)).resolves.toBeUndefined()
  for (const host of public6)
    await expect(startAt(`[${host}]`)).resolves.toBeUndefined()
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['10.1.2.3', '0x0a010203'],
  ['[::1]', '::1'],
  ['[0:0:0:0:0:0:0:1]', '[::1]'],
  ['[fd00::1]', 'fd00:0::1'],
])('%s is taken where %s is named', async (host, name) => {
  await expect(startAt(host, [name])).resolves.toBeUndefined()
  await expect(startAt(host, ['other.example'])).rejects.toThrow(
    WebhookTargetError,
  )
})

/** What is found when the host has these addresses. */
const find = (addresses: string[], isPrivateAllowed = false) =>
  findAddresses(
    {
      url: new URL('https://receiver.example/hooks'),
      name: 'test',
      from: 'beginning',
      ca: undefined,
      isPrivateAllowed,
      sign: () => '',
      types: undefined,
    },
    { lookup: async () => addresses },
  )

test.each([...listed4, ...refused6, ...listed4.flatMap(embeddings)])(
  'a host that has %s is refused, alone or among public addresses',
  async (address) => {
    const refused = { ok: false, reason: 'addressRefused' }
    expect(await find([address])).toEqual(refused)
    expect(await find(['1.1.1.1', address])).toEqual(refused)
    expect(await find([address, '2606:4700::1'])).toEqual(refused)
    expect(await find(['1.1.1.1', address, '8.8.8.8'])).toEqual(refused)
  },
)

test('a host is taken when all of its addresses are public', async () => {
  const addresses = ['1.1.1.1', '2606:4700:4700::1111']
  expect(await find(addresses)).toEqual({ ok: true, addresses })
})

test('a host that is named may have any address', async () => {
  const addresses = ['10.0.0.1', '1.1.1.1']
  expect(await find(addresses, true)).toEqual({ ok: true, addresses })
})

test('a host without an address is unknown, named or not', async () => {
  expect(await find([])).toEqual({ ok: false, reason: 'hostUnknown' })
  expect(await find([], true)).toEqual({ ok: false, reason: 'hostUnknown' })
})
