import { InvalidFieldError } from 'countersign'
import type { SubscriberState } from 'countersign/client'
import { buildSpendPermission } from 'countersign/subscriptions'
import { expect, test } from 'vitest'
import { ProblemError } from '../../../src/client/errors.js'
import { formatPeriod } from '../../../src/pages/web/formatPeriod.js'
import {
  explainSubscriber,
  timesOf,
} from '../../../src/pages/web/subscriber.js'
import { UnexpectedSpendPermissionError } from '../../../src/subscriptions/permission/errors.js'
import { encodePermission } from '../../../src/subscriptions/permission/permissionJson.js'
import { buyerToken, dataOf, openPages, usdc } from '../support/openPages.js'

const { ask, pages } = openPages({
  returnUrls: ['https://shop.example/thanks/'],
})

const day = 86_400n

/** A subscription of 30 days each, from second 1000 on. */
function subscriptionOf(
  changes: Partial<SubscriberState> = {},
  terms: { periods?: number; end?: bigint } = { periods: 12 },
): SubscriberState {
  const permission = buildSpendPermission({
    chainId: 8453,
    account: `0x${'11'.repeat(20)}`,
    spender: `0x${'22'.repeat(20)}`,
    token: usdc,
    allowance: '10',
    period: 30n * day,
    start: 1_000n,
    ...terms,
  })
  return {
    id: 'one',
    chainId: 8453,
    token: usdc,
    recipient: permission.message.spender,
    payer: permission.message.account,
    permission: encodePermission(permission) as SubscriberState['permission'],
    state: 'active',
    amount: '10',
    period: '0',
    charges: [],
    ...changes,
  }
}

const month = Number(30n * day)

test('the next charge is at the start of the period after the newest that was charged', () => {
  const nextOf = (changes: Partial<SubscriberState>) =>
    timesOf(subscriptionOf(changes)).next
  expect(nextOf({ period: '0' })).toBe(1_000)
  expect(nextOf({ period: '3' })).toBe(1_000 + 3 * month)
  expect(nextOf({ period: '3', state: 'pastDue' })).toBe(1_000 + 3 * month)
  // The last period is charged, or nothing is charged by itself.
  expect(nextOf({ period: '12' })).toBeUndefined()
  expect(nextOf({ amount: undefined })).toBeUndefined()
  for (const state of [
    'drafted',
    'unpaid',
    'canceling',
    'canceled',
    'ended',
  ] as const)
    expect(nextOf({ state })).toBeUndefined()
})

test('a subscription without an end has no number of periods', () => {
  expect(timesOf(subscriptionOf({}, {}))).toMatchObject({
    start: 1_000,
    end: undefined,
    periods: undefined,
  })
  expect(timesOf(subscriptionOf())).toMatchObject({
    end: 1_000 + 12 * month,
    periods: 12,
  })
  // The last period may be shorter.
  const end = 1_000n + 45n * day
  expect(timesOf(subscriptionOf({}, { end }))).toMatchObject({ periods: 2 })
})

test.each([
  [30 * 86_400, 'en', '30 days'],
  [86_400, 'en', '1 day'],
  [5_400, 'en', '90 minutes'],
  [7_200, 'de', '2 Stunden'],
  [86_401, 'en', '86,401 seconds'],
])('%i seconds are shown in %s as %s', (seconds, language, text) => {
  expect(formatPeriod(seconds, language)).toBe(text)
})

const problemOf = (reason: string) =>
  new ProblemError({ reason, status: 422, detail: '' } as never)

test('a wallet that cannot be charged is told so, and a change of the subscription is only shown', () => {
  for (const reason of ['permissionRejected', 'walletNotDeployed'])
    expect(explainSubscriber(problemOf(reason))?.reason).toBe('unfitWallet')
  expect(explainSubscriber(problemOf('insufficientFunds'))?.reason).toBe(
    'tooLittle',
  )
  expect(explainSubscriber(problemOf('notOpen'))).toBeUndefined()
  const other = new UnexpectedSpendPermissionError('token', '0x1', '0x2')
  expect(explainSubscriber(other)).toMatchObject({
    reason: 'unexpected',
    isSerious: true,
  })
})

const filesIn = (html: string) =>
  [...html.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(
    ([, file]) => `/subscribe/${file}`,
  )

test('the page of a subscription loads nothing that only payments need: one script of at most 12 kB', async () => {
  const html = await (await ask('/subscribe/one')).text()
  const scripts = filesIn(html).filter((file) => file.endsWith('.js'))
  expect(scripts).toHaveLength(1)
  for (const file of scripts) {
    const sent = await ask(file, { headers: { 'accept-encoding': 'br' } })
    expect((await sent.arrayBuffer()).byteLength).toBeLessThan(12_000)
  }
})

test('the page of a subscription is served with files of its own, and says nothing of it', async () => {
  const answer = await ask('/subscribe/secret-id')
  expect(answer.status).toBe(200)
  const html = await answer.text()
  expect(html).toContain('<title>Subscribe to Roastery</title>')
  expect(html).toContain('Loading your subscription')
  expect(html).not.toContain('secret-id')
  const files = filesIn(html)
  expect(files.join()).toContain('subscribe-')
  for (const file of files) expect((await ask(file)).status).toBe(200)
  expect(await dataOf(ask('/subscribe/one'))).toMatchObject({
    payments: '../payments',
    name: 'Roastery',
  })
  for (const path of ['/subscribe', '/subscribe/', '/subscribe/one/two'])
    expect((await ask(path)).status).toBe(404)
})

test('a link to a subscription has the token behind the # and leads back only where the shop allows', async () => {
  const returnUrl = 'https://shop.example/thanks/7'
  const given = { subscriptionId: 'sub/1', buyerToken }
  expect(pages.subscribeUrl(given)).toBe(`/subscribe/sub%2F1#${buyerToken}`)
  const link = pages.subscribeUrl({ ...given, returnUrl })
  const path = link.replace(/#.*/, '')
  expect(await dataOf(ask(path))).toMatchObject({ returnUrl })
  for (const wrong of [
    { ...given, subscriptionId: '' },
    { ...given, buyerToken: `${buyerToken}0` },
    { ...given, returnUrl: 'https://evil.example' },
    { ...given, orderId: 'one' },
  ])
    try {
      pages.subscribeUrl(wrong)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidFieldError)
      expect(String(error)).not.toContain(buyerToken)
    }
})
