import { eventCases } from './storeCasesEvents.js'
import { leaseCases } from './storeCasesLeases.js'
import { ledgerQueryCases } from './storeCasesLedger.js'
import { orderQueryCases } from './storeCasesQueries.js'
import { recordCases } from './storeCasesRecords.js'
import { refusalCases } from './storeCasesRefusals.js'
import type { StoreCase } from './storeCasesTools.js'
import { unitCases } from './storeCasesUnits.js'

/**
 * What every `PaymentStore` has to do, one case a rule, for any test runner.
 *
 * The cases of one database run one after the other. They draw ids of their
 * own, so the database may hold rows already.
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
  ...refusalCases,
  ...unitCases,
  ...eventCases,
  ...leaseCases,
]
