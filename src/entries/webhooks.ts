export {
  WebhookPackageNotFoundError,
  WebhookTargetError,
} from '../webhooks/errors.js'
export {
  type ReadWebhookLagParameters,
  readWebhookLag,
  type WebhookLag,
} from '../webhooks/readWebhookLag.js'
export { runWebhooks } from '../webhooks/runWebhooks.js'
export type {
  RunWebhooksParameters,
  WebhookFailure,
  WebhookPayload,
  WebhookTarget,
} from '../webhooks/types.js'
