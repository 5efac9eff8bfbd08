import { readFile } from 'node:fs/promises'
import { capturePayment, formatAmount } from 'countersign'
import { erc20Abi } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { draft } from '../../chain/support/desk.js'
import { judgeJournal } from '../../chain/support/hledger.js'
import {
  askCapture,
  authorize,
  button,
  captureNewest,
  isFinal,
  openDesk,
  orderFirst,
  orderIdOf,
  reaches,
} from '../../chain/support/shopPage.js'
import { placeOrder } from '../../chain/support/shopPageOrders.js'

const printed: string[] = []
for (const stream of [process.stdout, process.stderr])
  vi.spyOn(stream, 'write').mockImplementation((text) => {
    printed.push(String(text))
    return true
  })

const desk = await openDesk()
const { shop } = desk
const key = new URL(shop.merchantUrl).hash
afterAll(() => desk.close())
afterEach(() => expect(desk.takeProblems()).toEqual([]))

const accounts = shop.chain.accounts.slice(3)
const place = (at: number, amount: string): Promise<string> => {
  const account = accounts[at]
  if (!account) throw new Error('no account left')
  return placeOrder(shop, { account, product: 'pour-over-kit', amount })
}

/** Waits until the worker has read so far. */
const audits = (destination: object): Promise<void> =>
  expect
    .poll(() => shop.orders.audit(), { timeout: 30_000 })
    .toMatchObject({ ok: true, destinations: [destination] })

test('orders are told at once, narrowed by state and payer, and voided', async () => {
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  await page.getByText('Live').waitFor()
  await page.getByText('No orders here').waitFor()
  const kept = await place(0, '48.00')
  const other = await place(1, '30.00')
  const row = (orderId: string) =>
    page.getByRole('row', { name: new RegExp(orderId) })
  await row(kept).getByText('Authorized').waitFor()
  await row(other)
    .getByText(/1[45] min/)
    .waitFor()
  const stat = (name: string) =>
    page.getByRole('region', { name: 'At a glance' }).getByText(name)
  await stat('78.00').waitFor()

  await row(other).getByRole('button', { name: /^Void/ }).click()
  await button(page, 'Void the order').click()
  await row(other).getByText('Voided').waitFor()
  await row(other).getByText('signature still valid').waitFor()
  await stat('78.00').waitFor()
  expect((await shop.orders.get({ orderId: other })).state).toBe('voided')

  await page.getByLabel('State').selectOption('voided')
  await row(kept).waitFor({ state: 'detached' })
  await row(other).waitFor()
  await page.getByLabel('State').selectOption('')
  const search = page.getByRole('textbox', { name: 'Find' })
  await search.fill(accounts[0]?.address ?? '')
  await button(page, 'Filter').click()
  await row(other).waitFor({ state: 'detached' })
  await row(kept).waitFor()
  await search.fill('me')
  await button(page, 'Filter').click()
  await page.getByText('No order has this id.').waitFor()
  // The browser reports what the server does not find.
  expect(desk.takeProblems()).toEqual([expect.stringContaining('404')])
})

test('what was captured is in the chart, its figures, the books and a proof', async () => {
  const { page } = await desk.openWindow()
  const orderId = await place(2, '21.00')
  await page.goto(shop.merchantUrl)
  await captureNewest(page)
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByText('Captured').waitFor()
  await page.getByRole('img', { name: /1 captures?, 21.00 USDC/ }).waitFor()
  await page.getByText('Show the figures').click()
  const figures = page.getByRole('table', { name: /Captured\. Per minute/ })
  expect(await figures.getByRole('row').last().innerText()).toMatch(
    /\t1\t.*\t21\.00 USDC$/,
  )

  await row.getByRole('link', { name: /^Proof/ }).click()
  await page.getByText('The proof is valid').waitFor()
  await page.getByText('Finality: final').first().waitFor()
  await audits({ captured: { count: 1 } })
  await page.getByRole('link', { name: 'Books' }).click()
  await page.getByText('Your records match the chain exactly.').waitFor()
  const audit = page.getByRole('region', { name: 'Audit' })
  expect(await audit.getByText('21.00 USDC').count()).toBe(3)
  await button(page, 'Reconcile now').click()
  await page.getByText('Nothing was missing.').waitFor()
  await page.getByText('All well').waitFor()
  const held = page.locator('dt', { hasText: 'Used by' })
  const holder = held.locator('xpath=following-sibling::dd[1]')
  expect(await holder.innerText()).toMatch(/^(this server|nobody now)$/)
})

test('the books are downloaded as files that agree with the balance', async () => {
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant/books${key}`)
  const download = async (title: string): Promise<string> => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      button(page, title).click(),
    ])
    return `${file.suggestedFilename()}\n${await readFile(await file.path(), 'utf8')}`
  }
  expect(await download('CSV')).toMatch(
    /^books\.csv\ntype,time,.*\r\nopening,[\s\S]*\r\ncapture,[\s\S]*\r\ngas,[\s\S]*\r\nclosing,/,
  )
  expect(await download('JSON lines')).toMatch(
    /^books\.jsonl\n\{"type":"opening"[\s\S]*\{"type":"closing"/,
  )
  const [, ...journal] = (await download('hledger journal')).split('\n')
  const { read, judged = read } = await judgeJournal(journal.join('\n'))
  expect(judged).toEqual(read)
  const { token, clients } = shop.chain
  const account = clients.merchant.account.address
  const units = await readContract(clients.public, {
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
  const asset = `assets:31337:${token}:${account}`.toLowerCase()
  expect(read[asset]).toBe(formatAmount(units, 6))
})

test('a payment that no order asked for is in the books, too', async () => {
  const { chain } = shop
  const { page } = await desk.openWindow()
  const payment = await draft(chain, {
    amount: '7.77',
    primaryType: 'TransferWithAuthorization',
  })
  const hash = await capturePayment(chain.clients.relayer, { payment })
  await chain.clients.public.waitForTransactionReceipt({ hash })
  await audits({ unmatched: { count: 1 } })
  await page.goto(`${shop.url}/merchant/books${key}`)
  await page.getByText('Your records match the chain exactly.').waitFor()
  await page.getByText('7.77').waitFor()
})

test('neither signature nor key is in an address, a store or the output', async () => {
  const buyer = await desk.openWindow()
  const merchant = await desk.openWindow()
  const asked: string[] = []
  const bodies: string[] = []
  for (const { context } of [buyer, merchant])
    context.on('request', (request) => {
      asked.push(request.url())
      bodies.push(request.postData() ?? '')
    })
  await orderFirst(buyer.page, shop)
  await authorize(buyer.page)
  await reaches(buyer.page, 'stored')
  await merchant.page.goto(shop.merchantUrl)
  await askCapture(merchant.page).waitFor()
  await captureNewest(merchant.page)
  await isFinal(buyer.page)

  const { signature } = JSON.parse(
    bodies.find((body) => body.includes('"signature"')) ?? '',
  )
  const stores = (page = buyer.page): Promise<Record<string, string>[]> =>
    page.evaluate(() => [{ ...localStorage }, { ...sessionStorage }])
  const [local = {}, session = {}] = await stores()
  const [ofMerchant, sessionOfMerchant] = await stores(merchant.page)
  const [{ buyerToken }] = JSON.parse(local.orders ?? '')
  const walletKey = session['development-wallet']
  const merchantKey = key.slice('#key='.length)

  expect(Object.keys(local).sort()).toEqual(['basket', 'orders'])
  expect(Object.keys(session)).toEqual(['development-wallet'])
  expect(ofMerchant).toEqual({})
  expect(sessionOfMerchant).toEqual({ merchantKey })
  expect(merchant.page.url()).toBe(`${shop.url}/merchant`)

  const halves = [signature.slice(2, 66), signature.slice(66, 130)]
  const secrets = [...halves, buyerToken, merchantKey, walletKey]
  for (const secret of secrets as string[]) {
    expect(secret.length).toBeGreaterThan(40)
    const bare = secret.replace('0x', '')
    expect(asked.filter((url) => url.includes(bare))).toEqual([])
    expect(printed.filter((text) => text.includes(bare))).toEqual([])
  }
  for (const half of halves)
    expect(JSON.stringify([local, session])).not.toContain(half)
})

test('the page of an order is told of that order, and of no other', async () => {
  const { page } = await desk.openWindow()
  const orderId = await place(3, '19.00')
  await place(4, '18.00')
  const streams: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.endsWith('/events')) streams.push(search)
  })
  await page.goto(`${shop.url}/merchant/orders/${orderId}${key}`)
  const history = page.getByRole('list', { name: 'What happened' })
  await history.getByText('Signature accepted and stored').waitFor()
  expect(await history.getByRole('listitem').count()).toBe(2)
  await page.getByRole('button', { name: /^Void/ }).click()
  await button(page, 'Void the order').click()
  await history.getByText('Voided').waitFor()
  await page.getByText('The shop gave up on this payment.').waitFor()
  expect(new Set(streams)).toEqual(new Set([`?orderId=${orderId}`]))
})

test('an order that is not there is said to be none', async () => {
  const { page } = await desk.openWindow()
  await page.goto(`${shop.url}/merchant/orders/none${key}`)
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').innerText()).toMatch(/Order not found/)
  expect(new Set(desk.takeProblems())).toEqual(
    new Set([expect.stringContaining('404')]),
  )
})

test('a dialog names its order, and an unsigned order is voided without talk of a signature', async () => {
  const { page } = await desk.openWindow()
  await orderFirst(page, shop)
  const orderId = orderIdOf(page)
  await page.goto(shop.merchantUrl)
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByRole('button', { name: /^Void/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByTitle(orderId).waitFor()
  await dialog.getByText('the shop holds no signature').waitFor()
  await button(page, 'Void the order').click()
  await row.getByText('Voided').waitFor()
})

test('a capture that fails is shown in the row of its order', async () => {
  const orderId = await place(5, '17.00')
  const { page } = await desk.openWindow()
  await page.goto(shop.merchantUrl)
  const row = page.getByRole('row', { name: new RegExp(orderId) })
  await row.getByText('Authorized').waitFor()
  await page.route('**/capture', (route) => route.abort())
  await row.getByRole('button', { name: /^Capture/ }).click()
  await button(page, 'Capture now').click()
  await row.getByText('Not captured').waitFor()
  await row.getByText('Authorized').waitFor()
  desk.takeProblems()
})
