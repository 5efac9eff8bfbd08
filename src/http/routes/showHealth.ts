import type { OrdersHealth } from '../../orders/verbs/getHealth.js'
import type { NodeFault } from '../../orders/verbs/nodeHealth.js'

type Faulty = { fault: string | undefined; faultKind: NodeFault | undefined }
type Shown<facts> = Omit<facts, keyof Faulty> & { fault: NodeFault | undefined }

type ShownHealth = Omit<OrdersHealth, 'chains' | 'submitters'> & {
  chains: readonly Shown<OrdersHealth['chains'][number]>[]
  submitters: readonly Shown<OrdersHealth['submitters'][number]>[]
}

/** Health for HTTP responses, without the words of nodes. */
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
