import type { MembersOf } from '../../core/checkMembers.js'
import type { Observation, OrderEventType } from '../../orders/model/types.js'
import type { Orders } from '../../orders/Orders.js'
import type { PaymentStore } from '../../store/types.js'

/** Where events are delivered. */
export type WebhookTarget = {
  /**
   * Names the cursor of this target: keep it when the address changes. No two
   * that share a database may have the same.
   */
  name: string
  /** Of https, without credentials. */
  url: string
  /**
   * `whsec_…` keys as Standard Webhooks has them, the current one first: each
   * signs, so that a receiver can change from one to the next.
   */
  secrets: readonly string[]
  /** Where a target begins that was never told anything. @default 'beginning' */
  from?: 'beginning' | 'now' | undefined
  /**
   * Events it is told of; the others are passed for good, also where the list
   * grows later. Without `fulfil` nobody is told there to ship. @default all
   */
  types?: readonly OrderEventType[] | undefined
  /** Hosts, by name, whose addresses may be private. @default none */
  privateHosts?: readonly string[] | undefined
  /**
   * Certificates in PEM that the receiver's may be signed by, in place of the
   * public ones.
   */
  ca?: string | undefined
}

export const targetMembers: MembersOf<WebhookTarget> = {
  name: true,
  url: true,
  secrets: true,
  from: true,
  types: true,
  privateHosts: true,
  ca: true,
}

/** What {@link runWebhooks} takes. */
export type RunWebhooksParameters = {
  /**
   * The one the orders are kept in: keeps how far each target is, and lets one
   * process deliver at a time.
   */
  store: PaymentStore
  targets: readonly WebhookTarget[]
  /** Ends the deliveries, once those under way are over. */
  signal: AbortSignal
  /** Told of each try and each event left out; never of a secret, a body or a path. */
  observe?: ((observation: Observation) => void) | undefined
}

export const webhookMembers: MembersOf<RunWebhooksParameters> = {
  store: true,
  targets: true,
  signal: true,
  observe: true,
}

/** What a receiver is sent; what the event itself tells is in `data` too. */
export type WebhookPayload = {
  type: `order.${OrderEventType}`
  /** When it happened, as ISO 8601. */
  timestamp: string
  data: {
    /** Absent where it concerns no order. */
    orderId?: string | undefined
    /** Place among the order's events, from 1; 0 where it concerns none. */
    sequence: number
    chainId: number
    token: string
    recipient: string
    /** Unix milliseconds, decimal. */
    at: string
    [detail: string]: unknown
  }
}

/** Why a try came to nothing. */
export type WebhookFailure =
  /** The host has an address that is not public. */
  | 'addressRefused'
  | 'hostUnknown'
  | 'connectionFailed'
  | 'certificateRefused'
  | 'timedOut'
  | 'redirected'
  /** Another status than 200 to 299. */
  | 'statusRefused'

/** A target that was checked. */
export type CheckedTarget = Pick<WebhookTarget, 'name' | 'ca'> & {
  url: URL
  from: 'beginning' | 'now'
  isPrivateAllowed: boolean
  /** Absent where all are taken. */
  types: readonly unknown[] | undefined
  /** One signature a secret, of the try at this time. */
  sign: (id: string, at: Date, body: string) => string
}

/** What the deliveries ask besides the store. */
export type WebhookTools = {
  /** All addresses of a host. */
  lookup: (host: string) => Promise<readonly string[]>
  /** Milliseconds until the next try. */
  pause: (failures: number, retryAfter?: number | undefined) => number
  /** Milliseconds a whole try may take. */
  timeout: number
  /** Milliseconds a target is held without a sign of life. */
  lease: number
  /** Milliseconds between two looks for events. */
  look: number
  /** Milliseconds between two looks whether a target became free. */
  standby: number
}

/** What the work on one target is handed. */
export type TargetRun = {
  orders: Pick<Orders, 'events'>
  store: PaymentStore
  target: CheckedTarget
  /** Names this run in leases. */
  owner: string
  signal: AbortSignal
  observe: (observation: Observation) => void
  tools: WebhookTools
}
