import type { OrdersHealth } from '../../orders/index.js'
import type { Faulty, Shown, ShownHealth } from '../schemas/answerTypes.js'

/** Health for HTTP responses, without the error text of nodes. */
export function showHealth(health: OrdersHealth): ShownHealth {
  return {
    ...health,
    chains: health.chains.map(showFault),
    submitters: health.submitters.map(showFault),
  }
}

function showFault<facts extends Faulty>(given: facts): Shown<facts> {
  const { fault: _, faultKind, ...facts } = given
  return { ...facts, fault: faultKind }
}
