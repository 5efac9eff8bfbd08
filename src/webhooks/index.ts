export {
  type GetWebhookLagParameters,
  getWebhookLag,
  type WebhookLag,
} from './getWebhookLag.js'
export {
  type ReplayWebhooksParameters,
  replayWebhooks,
} from './replayWebhooks.js'
export { runWebhooks } from './runWebhooks.js'
export {
  WebhookPackageNotFoundError,
  WebhookTargetError,
} from './targets/errors.js'
export type {
  RunWebhooksParameters,
  WebhookFailure,
  WebhookPayload,
  WebhookTarget,
} from './targets/types.js'
