/**
 * The observations that `countersign.observations` counts. Their series begin
 * at 0, because Prometheus sees no increase in a series that begins at 1.
 */
export const observedNames: readonly string[] = [
  'submitter.unbatched',
  'submitter.passedOver',
  'submitter.adopted',
  'channels.claim',
  'channels.withdrawal',
  'seal.broken',
  'outbox.full',
  'webhook.gone',
  'webhook.skipped',
  'x402.handler',
]
