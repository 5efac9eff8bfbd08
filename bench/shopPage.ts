import type { Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  askCapture,
  button,
  openDesk,
  orderFirst,
  type ShopDesk,
} from '../test/chain/support/shopPage.js'
import { placeOrder } from '../test/chain/support/shopPageOrders.js'
import { median, type Row } from './compare.js'
import { sized } from './sized.js'

const clicks = sized(20, 2)

/** Milliseconds wanted. */
const goals = { stored: 150, preconfirmed: 450 }

/**
 * How long who clicks waits, in Chromium and by the page's own clock: a buyer
 * until the payment is stored, a merchant until the capture is pre-confirmed.
 */
export async function benchShopPage(): Promise<Row[]> {
  const desk = await openDesk()
  try {
    const { stored, wallet } = await timePayments(desk)
    const preconfirmed = await timeCaptures(desk)
    return [
      {
        name: `page: click to stored ${show(stored)}`,
        peer: `${goals.stored} ms and the wallet’s ${show(wallet)}`,
        ratio: goals.stored / median(stored),
        goal: 1,
        unit: 'time',
      },
      {
        name: `page: capture to pre-confirmed ${show(preconfirmed)}`,
        peer: `${goals.preconfirmed} ms, ticks of 200 ms`,
        ratio: goals.preconfirmed / median(preconfirmed),
        goal: 1,
        unit: 'time',
      },
    ]
  } finally {
    await desk.close()
  }
}

function show(times: readonly number[]): string {
  return `${median(times).toFixed(0)} ms`
}

/** Milliseconds of each payment without the wallet, and in it. */
async function timePayments({
  shop,
  openWindow,
}: ShopDesk): Promise<{ stored: number[]; wallet: number[] }> {
  const { page } = await openWindow()
  const account = privateKeyToAccount(generatePrivateKey())
  await shop.chain.mint({ to: account.address, value: 10n ** 9n })
  await page.exposeFunction('signTypedData', (text: string) =>
    account.signTypedData(JSON.parse(text)),
  )
  // The loader wraps functions in a helper that the page lacks.
  await page.addInitScript('globalThis.__name = (value) => value')
  await page.addInitScript(announceWallet, account.address)
  const stored: number[] = []
  const wallet: number[] = []
  for (let click = 0; click < clicks; click += 1) {
    await orderFirst(page, shop)
    await button(page, 'Bench wallet').click()
    const sign = page.getByRole('button', { name: /^Sign payment of/ })
    await sign.waitFor()
    const all = await timeClick(page, {
      click: () => sign.click(),
      selector: '[data-state="stored"]',
    })
    const own = await page.evaluate(() => Number(Reflect.get(window, 'own')))
    stored.push(all - own)
    wallet.push(own)
  }
  return { stored, wallet }
}

/** Runs in the page: a wallet that asks nobody, and counts its own time. */
function announceWallet(address: string): void {
  type Request = { method: string; params: readonly string[] }
  const provider = {
    request: async ({ method, params }: Request): Promise<unknown> => {
      const begun = performance.now()
      const answer = await (method === 'eth_signTypedData_v4'
        ? Reflect.get(window, 'signTypedData')(params[1])
        : method === 'eth_chainId'
          ? '0x7a69'
          : [address])
      const before = Number(Reflect.get(window, 'own') ?? 0)
      Reflect.set(window, 'own', before + performance.now() - begun)
      return answer
    },
  }
  const name = 'Bench wallet'
  const info = { uuid: name, name, icon: 'data:,', rdns: 'localhost.bench' }
  addEventListener('eip6963:requestProvider', () => {
    const detail = { info, provider }
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  })
}

async function timeCaptures({ shop, openWindow }: ShopDesk): Promise<number[]> {
  const { page } = await openWindow()
  await page.goto(shop.merchantUrl)
  await page.getByText('Live').waitFor()
  const times: number[] = []
  for (let click = 0; click < clicks; click += 1) {
    const account = privateKeyToAccount(generatePrivateKey())
    const order = { account, product: 'house-blend', amount: '12.50' } as const
    const orderId = await placeOrder(shop, order)
    const row = page.getByRole('row', { name: new RegExp(orderId) })
    await row.getByText('Authorized').waitFor()
    await askCapture(page).click()
    times.push(
      await timeClick(page, {
        click: () => button(page, 'Capture now').click(),
        selector: 'tr',
        words: `${orderId}[^]*(Pre-confirmed|Captured)`,
      }),
    )
    await row.getByText('Captured').waitFor()
  }
  return times
}

/** Milliseconds from a click to what the page then shows, by its own clock. */
async function timeClick(
  page: Page,
  {
    click,
    selector,
    words = '',
  }: {
    click: () => Promise<void>
    selector: string
    /** A pattern of what it says. */
    words?: string | undefined
  },
): Promise<number> {
  const [time] = await Promise.all([
    page.evaluate(watchClick, { selector, words }),
    click(),
  ])
  return time
}

/** Runs in the page. */
function watchClick({
  selector,
  words,
}: {
  selector: string
  words: string
}): Promise<number> {
  return new Promise((resolve) => {
    const pattern = new RegExp(words)
    let begun = Number.NaN
    document.addEventListener('click', () => (begun = performance.now()), {
      capture: true,
      once: true,
    })
    // The element that pays has a root of its own.
    const element = document.querySelector('countersign-pay')
    const root = element?.shadowRoot ?? document
    new MutationObserver((_changes, observer) => {
      const shown = [...root.querySelectorAll(selector)]
      if (!shown.some((one) => pattern.test(one.textContent ?? ''))) return
      observer.disconnect()
      resolve(performance.now() - begun)
    }).observe(root, {
      attributes: true,
      childList: true,
      characterData: true,
      subtree: true,
    })
  })
}
