import type { ReactNode } from 'react'
import { groupAmount } from '../../../../src/pages/ui/format.js'
import { HashLink } from '../../../../src/pages/ui/HashLink.js'
import type {
  StepStatus,
  TimelineStep,
} from '../../../../src/pages/ui/Timeline.js'
import { formatClock } from '../api/formatClock.js'
import type { BuyerRefund } from '../api/openBuyer.js'
import type { OrderPoint } from './pointOf.js'
import type { FollowedOrder } from './useOrder.js'

type StepsParameters = Pick<FollowedOrder, 'times' | 'newest'> & {
  point: OrderPoint
  hash: string | undefined
  refunds: readonly BuyerRefund[]
  symbol: string
  /** Whether the shop captures as soon as it has the payment. */
  isAtOnce: boolean
  /** Whether it is the buyer’s turn. */
  isIdle: boolean
}

/** How far each point is on the way to the money’s arrival. */
const progress: Partial<Record<OrderPoint, number>> = {
  drafted: 0,
  signed: 1,
  stored: 2,
  capturing: 3,
  preconfirmed: 4,
  included: 5,
  safe: 5,
  finalized: 6,
}

/** What happened to an order and what comes next. */
export function orderSteps(parameters: StepsParameters): TimelineStep[] {
  const { point, times } = parameters
  const wasSigned = times.accepted !== undefined
  switch (point) {
    case 'canceling':
    case 'canceled':
      return cancelSteps(parameters)
    case 'voided':
    case 'expired':
    case 'consumed':
      return endSteps(parameters, wasSigned)
    default:
      return [...paySteps(parameters), ...refundSteps(parameters)]
  }
}

function refundSteps({
  refunds,
  symbol,
}: Pick<StepsParameters, 'refunds' | 'symbol'>): TimelineStep[] {
  return refunds.map(({ state, amount, transaction }, index) => {
    const key = `refund-${index + 1}`
    const money = `${groupAmount(amount)} ${symbol}`
    if (transaction)
      return {
        key,
        title: `Refunded ${money}`,
        status: 'done',
        note: (
          <>
            In block {transaction.blockNumber}:{' '}
            <HashLink hash={transaction.hash} />
          </>
        ),
      }
    const isOver = state === 'failed' || state === 'canceled'
    return {
      key,
      title: isOver
        ? `The refund of ${money} did not go through`
        : `Refund of ${money}`,
      status: isOver ? 'failed' : 'current',
      note: isOver ? 'Please contact the shop.' : 'The shop is paying it back.',
    }
  })
}

function paySteps(parameters: StepsParameters): TimelineStep[] {
  const { point, times, hash, isAtOnce, isIdle, newest } = parameters
  const reached = progress[point] ?? 0
  const isWaiting = (point === 'stored' && !isAtOnce) || isIdle
  const statusOf = (index: number): StepStatus => {
    if (index < reached) return 'done'
    if (index > reached) return 'todo'
    return isWaiting ? 'next' : 'current'
  }
  const steps: [
    key: string,
    ahead: string,
    done: string,
    time: number | undefined,
    note: ReactNode,
  ][] = [
    ['signed', 'You sign', words.signed, times.accepted, undefined],
    [
      'stored',
      'The shop checks and stores it',
      words.stored,
      times.accepted,
      storedNote(point),
    ],
    [
      'capturing',
      'The shop charges you',
      'Payment sent to the network',
      times.capturing,
      captureNote(point, {
        isAtOnce,
        wasRejected: newest === 'captureRejected',
      }),
    ],
    [
      'preconfirmed',
      'The network sees it',
      'Seen by the network',
      times.preconfirmed ?? times.captured,
      point === 'preconfirmed' && 'The network has put it into its next block.',
    ],
    [
      'included',
      'A block includes it',
      'Included in a block',
      times.captured,
      reached >= 5 && hash && <HashLink hash={hash} />,
    ],
    [
      'final',
      'It becomes final',
      'Final',
      times.finalityRaised,
      point === 'safe' && 'Very unlikely to be reversed; final soon.',
    ],
  ]
  return steps.map(([key, ahead, done, at, note], index) => {
    const status = statusOf(index)
    const isDone = status === 'done'
    return {
      key,
      title: isDone ? done : ahead,
      note: note || undefined,
      status,
      time: isDone ? <Clock at={at} /> : undefined,
    }
  })
}

/** Of the steps that stay when an order ends otherwise. */
const words = { signed: 'Signed by you', stored: 'Stored by the shop' }

function storedNote(point: OrderPoint): ReactNode {
  return point === 'signed' && 'The shop is checking your signature.'
}

function captureNote(
  point: OrderPoint,
  { isAtOnce, wasRejected }: { isAtOnce: boolean; wasRejected: boolean },
): ReactNode {
  if (point !== 'stored') return undefined
  if (wasRejected)
    return 'The token contract refused the payment. Check that the money is still in your account. The shop can try again.'
  return isAtOnce
    ? 'Any moment now.'
    : 'The shop charges you when it ships. Until then you can cancel.'
}

function cancelSteps({ point, times, hash }: StepsParameters): TimelineStep[] {
  const isDone = point === 'canceled'
  return [
    ...signedSteps(times),
    {
      key: 'canceling',
      title: 'Cancellation sent',
      status: 'done',
      time: <Clock at={times.canceling} />,
    },
    {
      key: 'canceled',
      title: isDone ? 'Canceled on the chain' : 'The chain cancels it',
      status: isDone ? 'done' : 'current',
      note: isDone
        ? hash && <HashLink hash={hash} />
        : 'If the payment goes through first, you have paid.',
      time: isDone && <Clock at={times.canceled} />,
    },
  ]
}

const ends: Partial<Record<OrderPoint, [string, string]>> = {
  voided: ['Closed by the shop', 'The shop will not charge you.'],
  expired: [
    'Not charged in time',
    'Your payment has expired and can no longer be charged.',
  ],
  consumed: [
    'Used for something else',
    'The payment’s nonce was used for something else on the chain. Contact the shop.',
  ],
}

function endSteps(
  { point, times }: StepsParameters,
  wasSigned: boolean,
): TimelineStep[] {
  const [title, note] = ends[point] ?? ['Ended', '']
  const time = <Clock at={times[point]} />
  if (!wasSigned && point === 'expired')
    return [
      { key: 'signed', title: 'Not signed in time', status: 'failed', time },
    ]
  const status = point === 'voided' ? 'skipped' : 'failed'
  const end: TimelineStep = { key: point, title, note, status, time }
  return wasSigned ? [...signedSteps(times), end] : [end]
}

function signedSteps(times: StepsParameters['times']): TimelineStep[] {
  const time = <Clock at={times.accepted} />
  return [
    { key: 'signed', title: words.signed, status: 'done', time },
    { key: 'stored', title: words.stored, status: 'done', time },
  ]
}

/** When something happened, in Unix milliseconds. */
function Clock({ at }: { at: number | undefined }): ReactNode {
  return (
    at !== undefined && (
      <time dateTime={new Date(at).toISOString()}>
        {formatClock(at / 1000)}
      </time>
    )
  )
}
