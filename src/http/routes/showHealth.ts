import type { OrdersHealth } from '../../orders/index.js'
import type { Faulty, Shown, ShownHealth } from '../schemas/answerTypes.js'

/**
 * Removes the error texts of nodes from the health report. Such a text can
 * contain the URL of the node with its API key.
 */
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
