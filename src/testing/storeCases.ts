import { earlyCases } from './storeCasesEarly.js'
import { eventCases } from './storeCasesEvents.js'
import { leaseCases } from './storeCasesLeases.js'
import { ledgerQueryCases } from './storeCasesLedger.js'
import { noteCases } from './storeCasesNotes.js'
import { orderQueryCases } from './storeCasesQueries.js'
import { recipientCases } from './storeCasesRecipients.js'
import { recordCases } from './storeCasesRecords.js'
import { refundCases } from './storeCasesRefunds.js'
import { refusalCases } from './storeCasesRefusals.js'
import { secretCases } from './storeCasesSecrets.js'
import { subscriptionCases } from './storeCasesSubscriptions.js'
import type { StoreCase } from './storeCasesTools.js'
import { unitCases } from './storeCasesUnits.js'

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
  ...earlyCases,
  ...secretCases,
  ...refusalCases,
  ...unitCases,
  ...eventCases,
  ...noteCases,
  ...subscriptionCases,
  ...recipientCases,
  ...leaseCases,
]
