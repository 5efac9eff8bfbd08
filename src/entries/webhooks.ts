export {
  WebhookPackageNotFoundError,
  WebhookTargetError,
} from '../webhooks/errors.js'
export { runWebhooks } from '../webhooks/runWebhooks.js'
export type {
  RunWebhooksParameters,
  WebhookFailure,
  WebhookPayload,
  WebhookTarget,
} from '../webhooks/types.js'
