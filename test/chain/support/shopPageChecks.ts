import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

const widths = [1280, 390]
const themes = ['light', 'dark'] as const
const ofColours = ['color-contrast', 'link-in-text-block']

/** What axe finds and what is wider than the window, in each look. */
export async function findFaults(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    const wide = await findWide(page)
    if (wide) faults.push(`${width}: wider than the page: ${wide}`)
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme })
      // Else it opens a page of its own for each look at this one.
      const axe = new AxeBuilder({ page }).setLegacyMode()
      // A theme changes colours and nothing else.
      if (colorScheme === 'dark') axe.withRules(ofColours)
      const { violations } = await axe.analyze()
      faults.push(
        ...violations.map(
          ({ id, nodes: [first] }) =>
            `${width} ${colorScheme}: ${id}: ${first?.html}`,
        ),
      )
    }
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
  return faults
}

/** The colours and shadows of everything between header and footer. */
export function readColours(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('html, body, main, main *')].map(
      (element) => {
        const { color, backgroundColor, borderColor, boxShadow } =
          getComputedStyle(element)
        return [color, backgroundColor, borderColor, boxShadow].join(' ')
      },
    ),
  )
}

/** Windows in which a page is used by keyboard. */
export const keyboards = [
  ['390 wide', { width: 390 }],
  ['1280 wide at 200% zoom', { width: 640, height: 422, scale: 2 }],
  ['390 wide at 200% zoom', { width: 195, height: 422, scale: 2 }],
] as const

/**
 * What has the focus if a part of it is out of the window, or what makes the
 * page scroll sideways.
 */
export async function findHidden(page: Page): Promise<string | undefined> {
  const wide = await findWide(page)
  if (wide) return wide
  return page.evaluate(() => {
    const { activeElement } = document
    const box = activeElement?.getBoundingClientRect()
    const isSeen =
      box &&
      box.width > 0 &&
      box.left >= 0 &&
      box.top >= 0 &&
      box.right <= innerWidth &&
      box.bottom <= innerHeight
    return isSeen ? undefined : (activeElement?.outerHTML ?? 'nothing')
  })
}

/** What makes the page scroll sideways, the innermost of it. */
function findWide(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return undefined
    return [...document.querySelectorAll('body *')]
      .filter(
        (element) => element.getBoundingClientRect().right > clientWidth + 1,
      )
      .at(-1)
      ?.outerHTML.slice(0, 120)
  })
}

/** Goes on with the Tab key to what has a name, as far as there is one. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = []
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press('Tab')
    const focused = (await readFocused(page)) ?? ''
    if (name.test(focused)) return
    seen.push(focused.slice(0, 40))
  }
  throw new Error(`The Tab key led to nothing like ${name}, but: ${seen}`)
}

/** The names of all that the Tab key leads to, from the top of the page on. */
export async function tabStops(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    const { activeElement } = document
    if (activeElement instanceof HTMLElement) activeElement.blur()
    document.getSelection()?.collapse(document.body, 0)
  })
  const stops: string[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const name = await readFocused(page)
    if (name === undefined) return stops
    stops.push(name)
  }
}

/** The name of what has the focus, if something has it. */
function readFocused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    let { activeElement: element } = document
    if (!element || element === document.body) return undefined
    // What has the focus inside an element with a root of its own.
    while (element.shadowRoot?.activeElement)
      element = element.shadowRoot.activeElement
    return element.getAttribute('aria-label') ?? element.textContent?.trim()
  })
}
