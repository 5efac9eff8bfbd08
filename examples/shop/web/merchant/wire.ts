import type { Order, OrderEvent } from 'countersign/orders'

/** A value as JSON carries it: each `bigint` is a decimal string. */
export type Wire<value> = value extends bigint
  ? string
  : value extends readonly (infer item)[]
    ? readonly Wire<item>[]
    : value extends object
      ? { [name in keyof value]: Wire<value[name]> }
      : value

export type WireOrder = Wire<Order>

export type WireEvent = Wire<OrderEvent>
