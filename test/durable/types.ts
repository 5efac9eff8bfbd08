import type { Address, Hex } from 'viem'

/**
 * Where the runtime stops for good, at its n-th write of a step or at its n-th
 * transaction that it sends. `before` and `after` are moments of the commit,
 * `durable` comes once the disk has it, and the caller does not know it yet.
 */
export type Stop = {
  point: 'before' | 'after' | 'durable' | 'send' | 'sent'
  count: number
}

/** Every kind of point. */
export const points: readonly Stop['point'][] = [
  'before',
  'after',
  'durable',
  'send',
  'sent',
]

/** What a shop in a Durable Object is told with each request, as JSON. */
export type ShopSetting = {
  url: string
  token: Address
  merchant: Hex
  payer: Hex
}

/** A step of a sale. */
export type StepName = 'draft' | 'accept' | 'capture' | 'refund'

export type Asked = ShopSetting & {
  step: StepName | 'finish' | 'show' | 'writeInRead' | 'readAgain'
  orderId?: string | undefined
  /** Encoded, for `accept`. */
  payment?: string | undefined
  stop?: Stop | undefined
}

/** What a request is answered. */
export type Answer = {
  /** How often the step passed each kind of point. */
  passed: Record<Stop['point'], number>
  orderId?: string | undefined
  payment?: string | undefined
  /** In a word, what came of the step. */
  result: string
}

/** The answer to `show`. */
export type Shown = {
  state: string
  refunds: readonly string[]
  events: readonly string[]
}
