import type { ReactNode } from 'react'
import { Icon } from './Icon.js'
import { Spinner } from './Spinner.js'

export type StepStatus =
  | 'done'
  | 'current'
  /** The next step, which waits for a person. */
  | 'next'
  | 'todo'
  | 'failed'
  | 'skipped'

export type TimelineStep = {
  key: string
  title: ReactNode
  status: StepStatus
  /** Explains the step in a sentence. */
  note?: ReactNode
  /** When it happened, as a `<time>`. */
  time?: ReactNode
}

export type TimelineProps = {
  label: string
  steps: readonly TimelineStep[]
  /** The state of the order, for tests and styles. */
  state?: string | undefined
}

const spoken: Record<StepStatus, string> = {
  done: 'done',
  current: 'now',
  next: 'next',
  todo: 'not yet',
  failed: 'failed',
  skipped: 'left out',
}

/** Shows past and future steps. Screen readers read changes aloud. */
export function Timeline({ label, steps, state }: TimelineProps): ReactNode {
  const present = steps
    .filter(({ status }) => status !== 'todo' && status !== 'next')
    .at(-1)
  return (
    <>
      <ol className="timeline" aria-label={label} data-state={state}>
        {steps.map(({ key, title, status, note, time }) => (
          <li
            key={key}
            className="timeline-step"
            data-step={key}
            data-status={status}
            aria-current={status === 'current' ? 'step' : undefined}
          >
            <span className="timeline-mark">
              {status === 'done' && <Icon name="check" size={14} />}
              {status === 'failed' && <Icon name="cross" size={14} />}
              {status === 'current' && <Spinner />}
            </span>
            <div className="timeline-text">
              <p className="timeline-title">
                <span>
                  {title}
                  <span className="visually-hidden">: {spoken[status]}</span>
                </span>
                {time}
              </p>
              {note && <div className="timeline-note">{note}</div>}
            </div>
          </li>
        ))}
      </ol>
      <p className="visually-hidden" role="status">
        {present?.title}
      </p>
    </>
  )
}
