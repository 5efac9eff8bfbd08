import { readFileSync, writeFileSync } from 'node:fs'
import type { DevChain } from 'countersign/devchain'
import type { Kill } from './plan.js'
import { judgeRefund } from './refundJudge.js'
import { type RefundSigner, refundSigners } from './refundPlan.js'
import { setRefundStage } from './refundStage.js'
import { startChild } from './runChild.js'
import { endLeases, withEngine } from './runKill.js'

/** One process that dies at one place of a refund. */
export type RefundKill = {
  signer: RefundSigner
  kill: Extract<Kill, { point: string }>
}

/** The points that a refund passes, sorted: some are passed side by side. */
type RefundPoints = Record<string, readonly string[]>

const file = new URL('refundPoints.json', import.meta.url)

export function readRefundPoints(): RefundPoints {
  return JSON.parse(readFileSync(file, 'utf8'))
}

export function writeRefundPoints(points: RefundPoints): void {
  writeFileSync(file, `${JSON.stringify(points, null, 2)}\n`)
}

/** A death before and after each point on the list. */
export function refundKills(): RefundKill[] {
  const points = readRefundPoints()
  return refundSigners.flatMap((signer) =>
    (points[signer] ?? []).flatMap((point) =>
      (['before', 'after'] as const).map((when) => ({
        signer,
        kill: { point, when },
      })),
    ),
  )
}

/** The points that a process passes that nobody kills. */
export function recordRefund(
  worker: string,
  chain: DevChain,
  signer: RefundSigner,
): Promise<readonly string[]> {
  return withEngine('sqlite', async (engine) => {
    const { plan } = await setRefundStage(chain, { engine, signer, lease })
    const { code, lines, problem } = await startChild(worker, plan).ended
    if (code !== 0) throw new Error(`the worker failed: ${problem}`)
    const { points }: { points: readonly string[] } = JSON.parse(
      lines.at(-1) ?? '',
    )
    return [...points].sort()
  })
}

/** Long enough that nothing depends on how busy the machine is. */
const lease = 10_000

/**
 * Has a process die, follows it, and returns everything that is wrong
 * afterwards: nothing must be.
 */
export function runRefundKill(
  worker: string,
  chain: DevChain,
  { signer, kill }: RefundKill,
): Promise<string[]> {
  return withEngine('sqlite', async (engine) => {
    const stage = await setRefundStage(chain, { engine, signer, lease })
    const { signal, code, lines, problem } = await startChild(worker, {
      ...stage.plan,
      kill,
    }).ended
    const where = `${kill.when} ${kill.point}`
    const isKilled = signal === 'SIGKILL' && lines.at(-1) === where
    // Which requests share a batch depends on timing. Without this batch nobody
    // was killed, and the refund must be paid once all the same.
    const isMissed = code === 0 && kill.point.startsWith('eth_')
    const isAsPlanned = isKilled || isMissed
    await endLeases(engine, lines)
    const problems = isAsPlanned
      ? await judgeRefund(stage)
      : [`ended with ${signal ?? code}: ${lines.at(-1)} ${problem}`]
    return problems.map((found) => `${signer} ${where}: ${found}`)
  })
}
