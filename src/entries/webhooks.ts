export type { RunWebhooksParameters, WebhookTarget } from '../webhooks/types.js'
