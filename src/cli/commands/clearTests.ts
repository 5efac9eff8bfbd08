import { isTestOrderId } from '../../core/testOrders.js'
import type { OrdersContext } from '../../orders/engine.js'
import type { Order } from '../../orders/index.js'
import type { OrderState } from '../../store/types.js'
import { fail, ok, warn } from '../checks/findings.js'
import type { CheckFinding } from '../checks/types.js'
import { describeFailure } from '../terminal/describeFailure.js'
import type { OpenedShop } from '../terminal/openShop.js'

export const testSubject = 'test payment'

/**
 * Voids a test order.
 *
 * @returns what to report, and the order unless that failed.
 */
export async function voidTest(
  { orders }: OpenedShop,
  orderId: string,
  named = '',
): Promise<{ findings: CheckFinding[]; order?: Order }> {
  const toDo = `Look at npx countersign inspect ${orderId}.`
  try {
    const verdict = await orders.void({ orderId })
    const { order } = verdict
    if (verdict.ok) {
      const words = `${named}is voided: no worker captures it any more`
      return { findings: [ok(testSubject, words)], order }
    }
    if (verdict.reason === 'notOpen') return { findings: [], order }
    const words = `${named}can still be captured, because its transaction is sent. If that fails, the order is voided`
    return { findings: [warn(testSubject, words, toDo)], order }
  } catch (error) {
    const { text } = describeFailure(error)
    const words = `${named}could not be voided, so a worker can still capture it: ${text}`
    const more = `${toDo} Your server can call void for it.`
    return { findings: [fail(testSubject, words, more)] }
  }
}

/** The states of a test order that a killed run can leave. */
const openStates: readonly OrderState[] = ['drafted', 'stored', 'capturing']

/** Most orders that one query loads. */
const pageSize = 500

/**
 * Finds the test orders that an earlier run left open, because it was killed,
 * and voids them. Only names them if the database is open for reading only.
 */
export async function clearTests(
  shop: OpenedShop,
  access: 'read' | 'write',
): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = []
  for (const { id, state } of await findOpenTests(shop.context)) {
    const named = `order ${id} of an earlier run `
    if (access === 'write')
      findings.push(...(await voidTest(shop, id, named)).findings)
    else
      findings.push(
        warn(
          testSubject,
          `${named}is still ${state}, so a worker can capture it`,
          'Void it by npx countersign doctor --send, or by void of your server.',
        ),
      )
  }
  return findings
}

async function findOpenTests({
  store,
  destinations,
}: OrdersContext): Promise<{ id: string; state: OrderState }[]> {
  const found: { id: string; state: OrderState }[] = []
  for (let before: bigint | undefined; ; ) {
    const query = { listed: destinations, states: openStates, before }
    const page = await store.read(({ orders }) =>
      orders.find({ ...query, limit: pageSize }),
    )
    found.push(...page.filter(({ id }) => isTestOrderId(id)))
    before = page.at(-1)?.position
    if (page.length < pageSize) return found
  }
}
