import { archiveCases } from '../../test/storeCases/archiveCases.js'
import { channelCases } from '../../test/storeCases/channelCases.js'
import { earlyCases } from '../../test/storeCases/earlyCases.js'
import { eventCases } from '../../test/storeCases/eventCases.js'
import { leaseCases } from '../../test/storeCases/leaseCases.js'
import { ledgerQueryCases } from '../../test/storeCases/ledgerQueryCases.js'
import { noteCases } from '../../test/storeCases/noteCases.js'
import { orderQueryCases } from '../../test/storeCases/orderQueryCases.js'
import { recipientCases } from '../../test/storeCases/recipientCases.js'
import { recordCases } from '../../test/storeCases/recordCases.js'
import { refundCases } from '../../test/storeCases/refundCases.js'
import { refusalCases } from '../../test/storeCases/refusalCases.js'
import { secretCases } from '../../test/storeCases/secretCases.js'
import { subscriptionCases } from '../../test/storeCases/subscriptionCases.js'
import { unitCases } from '../../test/storeCases/unitCases.js'
import type { StoreCase } from './storeCase.js'

/**
 * The rules of a `PaymentStore` as test cases for any test runner, one case for
 * each rule.
 *
 * Run the cases for one database one after the other, not at the same time. The
 * database may already contain rows: each case uses new random ids.
 *
 * @example
 * ```ts
 * import { test } from 'node:test'
 * import { memoryStore } from 'countersign/store'
 * import { storeCases } from 'countersign/testing'
 *
 * const store = memoryStore({ volatile: true })
 * for (const { name, run } of storeCases) test(name, () => run(() => store))
 * ```
 */
export const storeCases: readonly StoreCase[] = [
  ...recordCases,
  ...orderQueryCases,
  ...ledgerQueryCases,
  ...refundCases,
  ...archiveCases,
  ...earlyCases,
  ...secretCases,
  ...refusalCases,
  ...unitCases,
  ...eventCases,
  ...noteCases,
  ...subscriptionCases,
  ...channelCases,
  ...recipientCases,
  ...leaseCases,
]
