import { CountersignError } from '../../core/CountersignError.js'

/** No order with this id among the ones this instance answers for. */
export class OrderNotFoundError extends CountersignError {
  override readonly name = 'OrderNotFoundError'

  constructor({ orderId }: { orderId: string }) {
    super(`There is no order ${JSON.stringify(orderId)}.`, { orderId })
  }
}

/** A cursor of no event yet, as of a database that is not this one. */
export class CursorAheadError extends CountersignError {
  override readonly name = 'CursorAheadError'

  constructor(facts: { after: bigint; newest: bigint }) {
    const { after, newest } = facts
    super(`The cursor ${after} is ahead of the newest event, ${newest}.`, facts)
  }
}

/** An order cannot go from one state to another. A fault, not a verdict. */
export class TransitionError extends CountersignError {
  override readonly name = 'TransitionError'

  constructor(facts: { from: string; to: string }) {
    super(`An order cannot go from ${facts.from} to ${facts.to}.`, facts)
  }
}

/** Orders cannot start with what they were given. */
export class OrdersSetupError extends CountersignError {
  override readonly name = 'OrdersSetupError'

  constructor(
    problem: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(`Orders ${problem}.`, { problem, ...details })
  }
}
