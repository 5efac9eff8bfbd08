import type { Address } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Observation } from '../../core/observeFailure.js'
import type {
  OrderEvent,
  OrderEventData,
  OrderEventType,
  Orders,
} from '../../orders/index.js'
import type { PaymentStore } from '../../store/types.js'

/** A receiver of events. */
export type WebhookTarget = {
  /**
   * Name of the target's saved cursor: keep it when the URL changes. Must be
   * unique among the targets that share a database.
   */
  name: string
  /** An https URL without credentials. */
  url: string
  /**
   * Secrets in the form of Standard Webhooks, `whsec_…`, the current one first.
   * Each of them signs, so that a receiver can change its secret.
   */
  secrets: readonly string[]
  /** Where a new target begins in the stream. @default 'beginning' */
  from?: 'beginning' | 'now' | undefined
  /**
   * Types of events to deliver. Other events are skipped for good, even if you
   * add their type later. Without `fulfil`, the receiver does not learn that an
   * order can be shipped. @default all
   */
  types?: readonly OrderEventType[] | undefined
  /** Names of hosts that may have private addresses. @default none */
  privateHosts?: readonly string[] | undefined
  /**
   * PEM certificates of the authorities that may sign the receiver's
   * certificate, in place of the public ones.
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

/** Parameters of {@link runWebhooks}. */
export type RunWebhooksParameters = {
  /**
   * The store of the orders. It also saves the progress of each target, and
   * ensures that one process at a time delivers to it.
   */
  store: PaymentStore
  targets: readonly WebhookTarget[]
  /** Ends the deliveries, after the running ones. */
  signal: AbortSignal
  /**
   * Called for each try and each skipped event, never with a secret, a body or
   * a path.
   */
  observe?: ((observation: Observation) => void) | undefined
}

export const webhookMembers: MembersOf<RunWebhooksParameters> = {
  store: true,
  targets: true,
  signal: true,
  observe: true,
}

/**
 * The body of a webhook. Its `type` decides what `data` holds: after
 * `if (payload.type === 'order.fulfil')`, `payload.data.fulfilmentId` is a
 * string. `WebhookPayload<'fulfil'>` is the body of that event alone.
 */
export type WebhookPayload<type extends OrderEventType = OrderEventType> = {
  [name in type]: {
    type: `order.${name}`
    /** When it happened, as ISO 8601. */
    timestamp: string
    /** The data of the event, and the order and destination it belongs to. */
    data: OrderEventData[name] & {
      /** Absent if the event concerns no order. */
      orderId: OrderEvent<name>['orderId']
      /** Place among the order's events, from 1; 0 if it concerns no order. */
      sequence: number
      chainId: number
      token: Address
      recipient: Address
      /** Unix milliseconds as a decimal string. */
      at: string
    }
  }
}[type]

/** Why a try failed. */
export type WebhookFailure =
  /** The host has an address that is not public. */
  | 'addressRefused'
  | 'hostUnknown'
  | 'connectionFailed'
  | 'certificateRefused'
  | 'timedOut'
  | 'redirected'
  /** The status was not 200 to 299. */
  | 'statusRefused'

/** A target after its checks. */
export type CheckedTarget = Pick<WebhookTarget, 'name' | 'ca'> & {
  url: URL
  from: 'beginning' | 'now'
  isPrivateAllowed: boolean
  /** Absent if the target takes all. */
  types: readonly unknown[] | undefined
  /** Returns one signature for each secret, for a try at this time. */
  sign: (id: string, at: Date, body: string) => string
}

/** Times and functions that the deliveries use. */
export type WebhookTools = {
  /** Returns all addresses of a host. */
  lookup: (host: string) => Promise<readonly string[]>
  /** Returns the milliseconds until the next try. */
  pause: (failures: number, retryAfter?: number | undefined) => number
  /** Milliseconds that a whole try may take. */
  timeout: number
  /** Milliseconds until a lease runs out if it is not prolonged. */
  lease: number
  /** Milliseconds between two polls for new events. */
  look: number
  /** Milliseconds between two tries to take a target's lease. */
  standby: number
}

export type TargetRun = {
  orders: Pick<Orders, 'events'>
  store: PaymentStore
  target: CheckedTarget
  /** Name of this run as the owner of leases. */
  owner: string
  signal: AbortSignal
  observe: (observation: Observation) => void
  tools: WebhookTools
}
