export {
  WebhookPackageNotFoundError,
  WebhookTargetError,
} from '../targets/errors.js'
export type {
  RunWebhooksParameters,
  WebhookFailure,
  WebhookPayload,
  WebhookTarget,
} from '../targets/types.js'
export {
  type PutAsideEvent,
  type ReadWebhookLagParameters,
  readWebhookLag,
  type WebhookLag,
} from '../webhooks/readWebhookLag.js'
export { runWebhooks } from '../webhooks/runWebhooks.js'
