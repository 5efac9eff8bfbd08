import { afterAll, expect, test } from 'vitest'
import { serveFraming, signInFrame } from '../../chain/support/framedPage.js'
import {
  openPagesBrowser,
  openPagesDesk,
} from '../../chain/support/pagesDesk.js'
import { addTestWallet } from '../../chain/support/shopPageWallet.js'

const { around, elsewhere, frame } = await serveFraming()
const desk = await openPagesDesk({ frameAncestors: [around, elsewhere] })
const shut = await openPagesDesk()
const browser = await openPagesBrowser()
afterAll(async () => {
  await browser.close()
  await desk.close()
  await shut.close()
})

test.each([
  ['the same site', around],
  ['another site', elsewhere],
])('in a frame of %s that the shop names, a buyer pays', async (_, at) => {
  const { link, orderId } = await desk.draft()
  const account = await desk.buyer()
  const page = await browser.open({ width: 800, height: 900 })
  await addTestWallet(page, account.address)
  frame(link)
  await page.goto(at)
  const inside = page.frameLocator('iframe')
  await inside.getByRole('button', { name: 'Test wallet' }).click()
  await inside.getByRole('button', { name: /^Sign payment of/ }).click()
  await signInFrame(page, account)
  await inside.getByRole('heading', { name: 'Payment authorized' }).waitFor()
  expect((await desk.orders.get({ orderId })).state).toBe('stored')
  await page.context().close()
})

test('in a frame of a site that the shop does not name, nothing shows', async () => {
  const { link } = await shut.draft()
  const page = await browser.open()
  frame(link)
  await page.goto(around)
  await page.waitForLoadState('networkidle')
  expect(await page.frames().at(-1)?.locator('main').count()).toBe(0)
  await page.context().close()
})
