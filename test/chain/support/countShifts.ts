import type { Page } from 'playwright-core'

type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean }
type Counting = Window & { shifted?: number }

/** Adds up how far a page moves by itself, from its next document on. */
export async function countShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counting: Counting = window
    counting.shifted = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as Shift
        if (!hadRecentInput) counting.shifted = (counting.shifted ?? 0) + value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/** How far it has moved, as the web vitals have it. */
export function readShifts(page: Page): Promise<number> {
  return page.evaluate(() => (window as Counting).shifted ?? Number.NaN)
}
