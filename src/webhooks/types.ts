import type { PaymentStore } from '../store/types.js'

/** Where events are delivered. */
export type WebhookTarget = {
  /** Names the cursor of this target; keep it when the address changes. */
  name: string
  /** Of https. */
  url: string
  /**
   * `whsec_…` keys as Standard Webhooks has them, the current one first: each
   * signs, so that a receiver can change from one to the next.
   */
  secrets: readonly string[]
  /** Hosts, by name, whose addresses may be private. @default none */
  privateHosts?: readonly string[] | undefined
}

export type RunWebhooksParameters = {
  /** Keeps how far each target is, and lets one process deliver at a time. */
  store: PaymentStore
  targets: readonly WebhookTarget[]
  /** Ends the deliveries, once the one under way is over. */
  signal: AbortSignal
}
