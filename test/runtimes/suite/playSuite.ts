import { httpCases } from './httpCases.js'
import { messageCases } from './messageCases.js'
import { openStage } from './openStage.js'
import { orderCases } from './orderCases.js'
import { paymentCases } from './paymentCases.js'
import { readCases } from './readCases.js'
import { signCases } from './signCases.js'
import type { CaseResult, Host, Setting, Stage, StagedCase } from './types.js'

const cases: readonly StagedCase[] = [
  ...messageCases,
  ...signCases,
  ...paymentCases,
  ...readCases,
  ...orderCases,
]

/** Plays every case, one after the other. */
export async function playSuite(
  setting: Setting,
  { cases: hostCases = [], mount }: Host,
): Promise<CaseResult[]> {
  const all = [...hostCases, ...cases, ...httpCases(mount)]
  return playCases(openStage(setting), all)
}

export async function playCases(
  stage: Stage,
  cases: readonly StagedCase[],
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const { name, run } of cases) {
    try {
      await run(stage)
      results.push({ name })
    } catch (error) {
      results.push({ name, problem: String(error) })
    }
  }
  return results
}
