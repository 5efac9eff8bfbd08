import type { BuyerState } from '../../client/BuyerClient.js'
import { h } from './dom.js'
import { type Model, pointOf, timeOf } from './model.js'
import { money, type Words } from './words.js'

type Step = {
  title: string
  status: 'done' | 'now' | 'next'
  /** Unix seconds. */
  at?: number | undefined
  note?: string | undefined
}

/** What happened to an order and what comes next. */
export function stepsPart(
  model: Model,
  order: BuyerState,
  words: Words,
): HTMLElement {
  const { say, time } = words.format
  const items = stepsOf(model, order, words).map(
    ({ title, status, at, note }) =>
      h(
        'li',
        { class: `step ${status}` },
        h('span', { class: 'step-title' }, title),
        h('span', { class: 'unseen' }, `: ${say(status)}`),
        at !== undefined && h('span', { class: 'quiet' }, time(at)),
        note && h('span', { class: 'quiet' }, note),
      ),
  )
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'progress' },
    h('h2', { id: 'progress' }, say('progress')),
    h('ol', { class: 'steps' }, items),
  )
}

function stepsOf(model: Model, order: BuyerState, words: Words): Step[] {
  const { say } = words.format
  const at = (type: string) => timeOf(model, type)
  const point = pointOf(order, model.task)
  const signed: Step = {
    title: say('stepSigned'),
    status: 'done',
    at: at('accepted'),
  }
  const wasSigned = at('accepted') !== undefined
  const before = wasSigned ? [signed] : []
  const end = (title: Parameters<typeof say>[0]): Step[] => [
    ...before,
    { title: say(title), status: 'done', at: at(point) },
  ]
  switch (point) {
    case 'canceling':
      return [
        ...before,
        { title: say('stepCanceling'), status: 'done', at: at('canceling') },
        { title: say('stepCanceled'), status: 'now' },
      ]
    case 'canceled':
      return end('stepCanceled')
    case 'voided':
      return end('stepClosed')
    case 'expired':
      return end('stepExpired')
    case 'consumed':
      return end('stepConsumed')
  }
  const isCaptured = order.state === 'captured'
  const isFinal = point === 'finalized'
  const isSigned = point !== 'drafted' && point !== 'signed'
  const isRejected = model.events.at(-1)?.type === 'captureRejected'
  return [
    isSigned ? signed : { title: say('stepSign'), status: 'now' },
    {
      title: say(isCaptured ? 'stepCharged' : 'stepCharge'),
      status: isCaptured ? 'done' : isSigned ? 'now' : 'next',
      at: isCaptured ? at('captured') : undefined,
      note: isSigned && isRejected ? say('rejected') : undefined,
    },
    {
      title: say(isFinal ? 'stepIsFinal' : 'stepFinal'),
      status: isFinal ? 'done' : isCaptured ? 'now' : 'next',
      at: isFinal ? at('finalityRaised') : undefined,
    },
    ...order.refunds.map(({ state, amount }): Step => {
      const isOver = state === 'failed' || state === 'canceled'
      const title = isOver
        ? 'stepRefundFailed'
        : state === 'succeeded'
          ? 'stepRefunded'
          : 'stepRefunding'
      return {
        title: say(title, { amount: money(amount, words) }),
        status: state === 'succeeded' || isOver ? 'done' : 'now',
      }
    }),
  ]
}
