import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createPages } from 'countersign/pages'
import { afterAll, afterEach, expect, onTestFinished, test } from 'vitest'
import { contextOf } from '../../../src/orders/engine.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { findFaults, tabTo } from '../../chain/support/shopPageChecks.js'
import { startReceiver } from '../../unit/support/webhooksReceiver.js'
import { startRun } from '../../unit/support/webhooksRun.js'

const desk = await openPagesDesk()
const browser = await openPagesBrowser()
const { orders, chain } = desk
const { store } = contextOf(orders).context
const recipients = [chain.clients.merchant.account.address]
const target = { name: 'warehouse' }
await store.write((tables) =>
  tables.setValue('webhook:warehouse', { read: '0', open: [] }),
)
afterAll(async () => {
  await browser.close()
  await desk.close()
})
afterEach(() => expect(browser.takeProblems()).toEqual([]))

/** Serves the merchant's pages, and opens the card of webhooks. */
async function openWebhooks({ write = true, operates = true } = {}) {
  const pages = createPages(orders, {
    payments: '/payments',
    name: 'Roastery',
    merchant: { authorize: () => ({ recipients, operates }), write },
  })
  const server = createServer(getRequestListener(pages))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const page = await browser.open({ width: 1280, height: 900 })
  await page.goto(`http://127.0.0.1:${port}/merchant/books`)
  const card = page.getByRole('region', { name: 'Webhooks' })
  await card.getByRole('heading', { name: 'warehouse' }).waitFor()
  const dialog = page.getByRole('dialog', {
    name: 'Replay events to warehouse?',
  })
  return {
    page,
    card,
    replay: card.getByRole('button', { name: 'Replay events to warehouse' }),
    dialog,
    confirm: dialog.getByRole('button', { name: 'Replay', exact: true }),
  }
}

test('a merchant replays the events since a time, is told what that does, and sees it begin and end', async () => {
  const receiver = await startReceiver()
  const idsOf = () =>
    receiver.received.map(({ headers }) => headers['webhook-id'])
  const arrived = () => receiver.received.length
  await desk.draft()
  await desk.draft()
  const run = startRun({ orders, store }, receiver, target)
  await expect.poll(arrived, { timeout: 60_000 }).toBe(2)
  await run.stop()

  const { page, card, replay, dialog, confirm } = await openWebhooks()
  await tabTo(page, /^Replay events to warehouse/)
  await page.keyboard.press('Enter')
  await dialog.getByText('is delivered to warehouse once more').waitFor()
  await dialog.getByText('must ignore ids that it knows').waitFor()
  expect(await findFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await replay.click()
  await dialog.getByLabel('Since').selectOption('A day and time')
  await confirm.click()
  await dialog.getByText('Enter a day and a time').waitFor()
  await dialog.getByLabel('Day and time').fill('2999-01-01T00:00')
  await confirm.click()
  await dialog.getByText('This time is still to come.').waitFor()
  expect(await findFaults(page)).toEqual([])
  await dialog.getByLabel('Day and time').fill('2020-01-01T08:30')
  await confirm.click()
  await dialog.waitFor({ state: 'hidden' })
  await card.getByText('Replay to warehouse requested.').waitFor()
  await card.getByText(/since 01\/01\/2020, 08:30:00 is delivered/).waitFor()
  await card.getByText('requested, not begun').waitFor()
  expect(await findFaults(page)).toEqual([])
  expect(idsOf()).toHaveLength(2)

  startRun({ orders, store }, receiver, target)
  await expect.poll(arrived, { timeout: 60_000 }).toBe(4)
  expect(idsOf().slice(2)).toEqual(idsOf().slice(0, 2))
  await card.getByText('requested, not begun').waitFor({ state: 'detached' })
  await card.getByText('event 2 of 2').waitFor()
  await page.context().close()
})

test('a replay of the last hour leaves out what happened before it', async () => {
  const now = Date.now()
  const { page, card, replay, confirm } = await openWebhooks()
  await replay.click()
  const [request] = await Promise.all([
    page.waitForRequest(/\/webhooks\/replay/),
    confirm.click(),
  ])
  const { searchParams } = new URL(request.url())
  expect(searchParams.get('target')).toBe('warehouse')
  const since = Number(searchParams.get('since')) + 3_600_000
  expect(since).toBeGreaterThanOrEqual(now)
  expect(since).toBeLessThanOrEqual(Date.now())
  await card.getByText('Replay to warehouse requested.').waitFor()
  await page.context().close()
})

test('a replay that the server refuses is said to have done nothing', async () => {
  const { page, card, replay, confirm } = await openWebhooks()
  await page.route('**/webhooks/replay?*', (route) => route.abort())
  await replay.click()
  await confirm.click()
  await card.getByText('Nothing is replayed to warehouse.').waitFor()
  expect(browser.takeProblems()).toHaveLength(1)
  await page.context().close()
})

test.each([{ write: false }, { operates: false }])(
  'a merchant with %o is offered no replay',
  async (rights) => {
    const { page, replay } = await openWebhooks(rights)
    expect(await replay.count()).toBe(0)
    await page.context().close()
  },
)
