import { join } from 'node:path'
import { openPage } from '../chain/support/openPage.js'
import type { CaseResult, Report, Setting } from './suite/types.js'

/** What the page offers. */
type Page = { playInPage(setting: Setting): Promise<CaseResult[]> }

/** Runs the suite in a page of headless Chromium. */
export async function playPage(
  project: string,
  setting: Setting,
): Promise<Report> {
  const { page, problems, close } = await openPage(join(project, 'page.js'))
  try {
    const results = await page.evaluate(
      (given) => (globalThis as unknown as Page).playInPage(given),
      setting,
    )
    const runtime = `Chromium ${page.context().browser()?.version()}`
    const [problem] = problems
    const name = 'the page has no error'
    return {
      runtime,
      results: problem ? [...results, { name, problem }] : results,
    }
  } finally {
    await close()
  }
}
