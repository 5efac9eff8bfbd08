import {
  runWebhooks,
  type WebhookTarget,
  WebhookTargetError,
} from 'countersign/webhooks'
import { expect, test } from 'vitest'
import { createSecret } from '../support/webhooksRun.js'
import { createStream } from '../support/webhooksStream.js'

const secret = createSecret()

/** Starts with what a merchant in plain JavaScript may give. */
const start = (...targets: readonly object[]) => {
  const { orders, store } = createStream()
  return runWebhooks(orders, {
    // Whatever it is.
    store,
    targets: targets as WebhookTarget[],
    signal: AbortSignal.abort(),
  })
}

const good = {
  name: 'warehouse',
  url: 'https://receiver.example/hooks?key=of-the-path',
  secrets: [secret],
}

const refusalOf = async (changes: object): Promise<WebhookTargetError> => {
  const error = await start({ ...good, ...changes }).catch((it) => it)
  expect(error).toBeInstanceOf(WebhookTargetError)
  return error
}

test.each([
  { url: 'https://receiver.example' },
  { url: 'https://receiver.example:8443/' },
  { url: 'https://empfänger.example/' },
  { secrets: [secret, createSecret()] },
  { secrets: [`whsec_${Buffer.alloc(24, 7).toString('base64')}`] },
  { secrets: [`whsec_${Buffer.alloc(64, 7).toString('base64')}`] },
  { from: 'now' },
  { from: undefined, privateHosts: undefined, ca: undefined },
  { types: undefined },
  { types: ['fulfil', 'lossAfterFulfilment'] },
  { privateHosts: ['receiver.example.', 'RECEIVER.internal', '10.0.0.1'] },
])('a target with %j is taken', async (changes) => {
  await expect(start({ ...good, ...changes })).resolves.toBeUndefined()
})

test.each([
  [{ url: undefined }, 'targets[0].url must be a URL.'],
  [{ url: 'receiver.example/x' }, 'targets[0].url must be a URL.'],
  [{ url: 'https://' }, 'targets[0].url must be a URL.'],
  [{ url: 'https://[::1%25eth0]/' }, 'targets[0].url must be a URL.'],
  [
    { url: 'http://receiver.example/x' },
    'targets[0].url must be an https URL, not "http:".',
  ],
  [
    { url: 'http://localhost/', privateHosts: ['localhost'] },
    'targets[0].url must be an https URL, not "http:".',
  ],
  [
    { url: 'file:///etc/passwd' },
    'targets[0].url must be an https URL, not "file:".',
  ],
  [
    { url: 'https://me:secret@receiver.example' },
    'targets[0].url must be a URL without credentials.',
  ],
  [
    { url: 'https://me@receiver.example' },
    'targets[0].url must be a URL without credentials.',
  ],
  [
    { url: 'https://2852039166/latest' },
    'targets[0].url must be a URL with a public address, not "169.254.169.254".',
  ],
  [
    { name: '' },
    'targets[0].name must be 1 to 64 letters, digits, dots, dashes or underscores, not "".',
  ],
  [
    { name: 'a b' },
    'targets[0].name must be 1 to 64 letters, digits, dots, dashes or underscores, not "a b".',
  ],
  [
    { from: 'yesterday' },
    `targets[0].from must be 'beginning' or 'now', not "yesterday".`,
  ],
  [
    { privateHosts: 'localhost' },
    'targets[0].privateHosts must be a list of host names.',
  ],
  [
    { privateHosts: ['a.example', 'https://b.example'] },
    'targets[0].privateHosts[1] must be the name of a host without protocol, port or path, not "https://b.example".',
  ],
  [
    { privateHosts: ['b.example:443'] },
    'targets[0].privateHosts[0] must be the name of a host without protocol, port or path, not "b.example:443".',
  ],
  [
    { privateHosts: ['*'], url: 'https://10.0.0.1' },
    'targets[0].url must be a URL with a public address, not "10.0.0.1".',
  ],
  [
    { types: [] },
    'targets[0].types must be a list of at least one event type.',
  ],
  [
    { types: 'fulfil' },
    'targets[0].types must be a list of at least one event type.',
  ],
  [
    { types: ['fulfil', 'fulfill'] },
    'targets[0].types[1] must be a type of event, not "fulfill".',
  ],
  [
    { types: ['order.fulfil'] },
    'targets[0].types[0] must be a type of event, not "order.fulfil".',
  ],
  [
    { types: [['fulfil']] },
    'targets[0].types[0] must be a type of event, not "fulfil".',
  ],
  [
    { types: ['constructor'] },
    'targets[0].types[0] must be a type of event, not "constructor".',
  ],
  [
    { ca: 'certificates' },
    'targets[0].ca must be one or more PEM certificates.',
  ],
  [
    { ca: '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n' },
    'targets[0].ca must be one or more PEM certificates.',
  ],
])('a target with %j is refused in so many words', async (changes, words) => {
  const error = await refusalOf(changes)
  expect(error.message).toBe(words)
  expect(error.retryable).toBe(false)
})

test.each([
  [undefined],
  [[]],
  [secret],
  [['']],
  [[secret.slice(6)]],
  [['whsec_']],
  [['whsec_short']],
  [[`whsec_${Buffer.alloc(23, 7).toString('base64')}`]],
  [[`whsec_${Buffer.alloc(65, 7).toString('base64')}`]],
  [[`whsec_${Buffer.alloc(32, 251).toString('base64url')}`]],
  [[secret, `${secret} `]],
  [[secret, `${secret}\n`]],
  [[secret.replace('whsec_', 'whsk_')]],
])('secrets like %j are refused without being shown', async (secrets) => {
  const error = await refusalOf({ secrets })
  const shown = JSON.stringify({ ...error, message: error.message })
  expect(error.message).toMatch(
    /^targets\[0\]\.secrets(\[\d\])? must be [^,]*$/,
  )
  expect(error.details).not.toHaveProperty('value')
  for (const given of [secrets].flat(2))
    if (given && given.length > 12)
      expect(shown).not.toContain(given.slice(6, 20))
})

test('an error never shows a path, a query or credentials', async () => {
  for (const url of [
    'http://me:hidden@receiver.example/hidden?hidden#hidden',
    'https://me:hidden@receiver.example/hidden?hidden#hidden',
    'https://10.0.0.1/hidden?hidden#hidden',
    'nothing/hidden?hidden',
  ]) {
    const error = await refusalOf({ url })
    expect(JSON.stringify({ ...error, it: String(error) })).not.toContain('hid')
  }
})

test('a name is given once', async () => {
  const twice = { ...good, url: 'https://other.example' }
  await expect(start(good, twice)).rejects.toThrow(
    'targets[1].name must be unique among the targets, not "warehouse".',
  )
})

test('there is at least one target', async () => {
  await expect(start()).rejects.toThrow(
    'targets must be a list of at least one target.',
  )
})

test('nothing is sent when one of several targets is wrong', async () => {
  const { orders, store } = createStream()
  const calls: unknown[] = []
  const watched = {
    events: (parameters?: Parameters<typeof orders.events>[0]) => {
      calls.push(parameters)
      return orders.events(parameters)
    },
  }
  const targets = [good, { ...good, name: 'b', url: 'http://a.example' }]
  const { signal } = new AbortController()
  await expect(
    runWebhooks(watched, { store, targets, signal }),
  ).rejects.toThrow(WebhookTargetError)
  expect(calls).toEqual([])
})
