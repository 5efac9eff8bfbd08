import { test } from 'vitest'
import { judgeHistories } from '../../support/judgeHistories.js'

test('no history of a sale pays, fulfils or loses anything twice, and each ends as the chain does', () =>
  judgeHistories(10_000, 7))
