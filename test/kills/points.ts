import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import type { AccountKind, KilledFlow } from './plan.js'

/** The points each flow passes, in their order. */
export type Points = Record<
  KilledFlow,
  Partial<Record<AccountKind, readonly string[]>>
>

const file = new URL('points.json', import.meta.url)

/** Whether the list is to be written anew instead of being checked. */
export const isRecording = process.env.COUNTERSIGN_RECORD === '1'

/**
 * Replaces each batch of requests to a node by the methods in it: which requests
 * of two loops share a batch depends on timing.
 */
export function withoutBatches(points: readonly string[]): readonly string[] {
  const split = points.flatMap((point) =>
    point.startsWith('eth_') ? point.replace(/#\d+$/, '').split('+') : [point],
  )
  return [...new Set(split)].sort()
}

export function readPoints(): Points {
  return JSON.parse(readFileSync(file, 'utf8'))
}

export function writePoints(points: Points): void {
  writeFileSync(file, `${JSON.stringify(points, null, 2)}\n`)
}
