import { test } from 'vitest'
import { judgeHistories } from '../../unit/support/judgeHistories.js'

test('100,000 other histories of a sale end as the chain does', () =>
  judgeHistories(100_000, Number(process.env.COUNTERSIGN_SEED ?? Date.now())))
