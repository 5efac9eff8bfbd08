import type { Address } from 'viem'
import type { Observation } from '../../core/observeFailure.js'
import type { TrackedLoop } from '../../core/untilIdle.js'
import type {
  OrderEvent,
  OrderEventData,
  OrderEventType,
  Orders,
} from '../../orders/index.js'
import type { PaymentStore } from '../../store/types.js'

/** A receiver of events: its URL, its secrets, and the events it gets. */
export type WebhookTarget = {
  /**
   * Name under which the progress of this target is saved. Keep the name when
   * the URL changes: under a new name, deliveries start again from `from`. Must
   * be unique among the targets that share a database.
   */
  name: string
  /** URL of the receiver: https, without user name and password. */
  url: string
  /**
   * Secrets in the form of Standard Webhooks, `whsec_…`, the newest first. Each
   * message is signed with every secret, so that a receiver can change its
   * secret without losing events.
   */
  secrets: readonly string[]
  /**
   * Where a target without saved progress begins: with the first event in the
   * store, or with the next new one. @default 'beginning'
   */
  from?: 'beginning' | 'now' | undefined
  /**
   * Types of events to deliver. Other events are skipped and never delivered
   * later, even if you add their type. Without `fulfil`, the receiver does not
   * learn that an order can be shipped. @default all
   */
  types?: readonly OrderEventType[] | undefined
  /**
   * Hosts that are allowed to have private addresses, such as one in your own
   * network. @default none
   */
  privateHosts?: readonly string[] | undefined
  /**
   * Certificates (PEM) of the authorities that may sign the receiver's
   * certificate. They replace the public authorities.
   */
  ca?: string | undefined
}

/** Parameters of {@link runWebhooks}. */
export type RunWebhooksParameters = {
  /**
   * The store of the orders. The progress of each target is saved there too,
   * and a lease in it ensures that one process at a time delivers to a target.
   */
  store: PaymentStore
  targets: readonly WebhookTarget[]
  /** Ends the deliveries. Running requests are finished first. */
  signal: AbortSignal
  /**
   * Called for each delivery and each skipped event. Never gets a secret, a
   * body or the path of a URL.
   */
  observe?: ((observation: Observation) => void) | undefined
}

/**
 * The body of a webhook. Its `type` decides what `data` holds: after
 * `if (payload.type === 'order.fulfil')`, `payload.data.fulfilmentId` is a
 * string. `WebhookPayload<'fulfil'>` is the body of only that event.
 */
export type WebhookPayload<type extends OrderEventType = OrderEventType> = {
  [name in type]: {
    type: `order.${name}`
    /** When the event happened, as ISO 8601. */
    timestamp: string
    /** The data of the event, and the order and destination it belongs to. */
    data: OrderEventData[name] & {
      /** Absent if the event concerns no order. */
      orderId: OrderEvent<name>['orderId']
      /**
       * Number of this event among those of its order, from 1; 0 if it concerns
       * no order.
       */
      sequence: number
      chainId: number
      token: Address
      recipient: Address
      /** When the event happened, in Unix milliseconds as a decimal string. */
      at: string
    }
  }
}[type]

/** Why a delivery failed. */
export type WebhookFailure =
  /** The host has an address that is private or otherwise not public. */
  | 'addressRefused'
  | 'hostUnknown'
  | 'connectionFailed'
  | 'certificateRefused'
  | 'timedOut'
  | 'redirected'
  /** The receiver answered with a status other than 200 to 299. */
  | 'statusRefused'

/** A target whose fields have been checked. */
export type CheckedTarget = Pick<WebhookTarget, 'name' | 'ca'> & {
  url: URL
  from: 'beginning' | 'now'
  isPrivateAllowed: boolean
  /** Absent if the target takes all types. */
  types: readonly unknown[] | undefined
  /**
   * Returns the signatures of one delivery, one for each secret. `at` is the
   * time of the delivery, which is signed too.
   */
  sign: (id: string, at: Date, body: string) => string
}

/** Times and functions of the deliveries that tests replace. */
export type WebhookTools = {
  /** Returns all addresses of a host. */
  lookup: (host: string) => Promise<readonly string[]>
  /**
   * Returns the milliseconds until the next try of an event that has failed
   * this often.
   */
  pause: (failures: number, retryAfter?: number | undefined) => number
  /** Milliseconds that one delivery may take. */
  timeout: number
  /** Milliseconds until a lease expires if it is not prolonged. */
  lease: number
  /** Milliseconds between two reads of new events from the database. */
  look: number
  /** Milliseconds between two looks for a requested replay. */
  replay: number
  /**
   * Milliseconds until a process that did not get the lease asks for it again.
   */
  standby: number
}

export type TargetRun = {
  orders: Pick<Orders, 'events'>
  store: PaymentStore
  target: CheckedTarget
  /** Random name of this run, under which it holds leases. */
  owner: string
  signal: AbortSignal
  /** True in a call of `runDue`. It saves its pauses for the next call. */
  isCall: boolean
  observe: (observation: Observation) => void
  tools: WebhookTools
  /** Tells which loop has the work now; `undefined` between two. */
  tell: (loop: TrackedLoop | undefined) => void
}
