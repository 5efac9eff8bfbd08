import type { Observation } from '../core/observeFailure.js'
import type { Measurement } from './metricTable.js'

/** Returns the metrics that one observation changes. */
export function measureObservation(
  observation: Observation,
): readonly Measurement[] {
  const { name, duration, attributes } = observation
  const chain = { 'countersign.chain_id': attributes.chainId }
  if (name === 'submitter.sent') return measureSent(observation)
  if (name === 'submitter.replaced')
    return [
      {
        metric: 'countersign.send.replacements',
        value: 1,
        labels: { ...chain, 'countersign.kind': attributes.kind },
      },
    ]
  if (name === 'submitter.waits')
    return [
      {
        metric: 'countersign.send.waits',
        value: 1,
        labels: { ...chain, 'countersign.reason': attributes.reason },
      },
    ]
  if (/^webhook\.(delivered|failed)$/.test(name))
    return [
      {
        metric: 'countersign.webhook.duration',
        value: secondsOf(duration),
        labels: {
          'countersign.target': attributes.target,
          'countersign.outcome': name.replace(/^webhook\./, ''),
          'countersign.reason': attributes.reason,
          'http.response.status_code': attributes.status,
        },
      },
    ]
  const [, part] = failureForm.exec(name) ?? []
  if (part !== undefined)
    return [
      {
        metric: 'countersign.failures',
        value: 1,
        labels: { 'countersign.part': part, 'error.type': attributes.error },
      },
    ]
  if (duration === undefined)
    return [
      {
        metric: 'countersign.observations',
        value: 1,
        labels: { 'countersign.observation': name },
      },
    ]
  return [
    {
      metric: 'countersign.call.duration',
      value: secondsOf(duration),
      labels: {
        'countersign.call': name.replace(/^orders\./, ''),
        'countersign.outcome': outcomeOf(attributes),
        'countersign.reason': attributes.reason,
        'error.type': attributes.error,
      },
    },
  ]
}

const failureForm = /^(.+)\.failed$/

/** Tells how many transactions got each answer of the node. */
function measureSent({ duration, attributes }: Observation): Measurement[] {
  const { chainId, account: _, ...answers } = attributes
  const chain = { 'countersign.chain_id': chainId }
  return [
    {
      metric: 'countersign.send.duration',
      value: secondsOf(duration),
      labels: chain,
    },
    ...Object.entries(answers).map(
      ([outcome, count]): Measurement => ({
        metric: 'countersign.send.transactions',
        value: Number(count),
        labels: { ...chain, 'countersign.outcome': outcome },
      }),
    ),
  ]
}

function outcomeOf({ ok, status, error }: Observation['attributes']): unknown {
  if (error !== undefined) return 'failed'
  return status ?? (ok === false ? 'refused' : 'ok')
}

function secondsOf(milliseconds = 0): number {
  return milliseconds / 1000
}
