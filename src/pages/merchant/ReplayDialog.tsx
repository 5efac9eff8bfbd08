import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react'
import { Button } from '../ui/Button.js'
import { Dialog } from '../ui/Dialog.js'
import { Field, Select } from '../ui/Field.js'

/** Asks since when a webhook target gets its events once more. */
export function ReplayDialog({
  target,
  onConfirm,
  onClose,
}: {
  target: string | undefined
  /** Gets Unix milliseconds. */
  onConfirm: (target: string, since: number) => void
  onClose: () => void
}): ReactNode {
  const form = useId()
  // Keeps showing the target while the dialog closes.
  const last = useRef(target)
  if (target !== undefined) last.current = target
  const { current: shown } = last
  if (shown === undefined) return null
  return (
    <Dialog
      open={target !== undefined}
      title={`Replay events to ${shown}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button variant="primary" type="submit" form={form}>
            Replay
          </Button>
        </>
      }
    >
      <p>
        Every event since this time is delivered to {shown} once more, for all
        recipients of the shop. New events wait until these have arrived.
      </p>
      <p>
        Each keeps its id. The receiver must ignore ids that it knows, or it
        does its work twice.
      </p>
      <ReplayForm id={form} onConfirm={(since) => onConfirm(shown, since)} />
    </Dialog>
  )
}

const hour = 3_600_000

const choices = [
  { value: 'hour', label: 'Last hour', milliseconds: hour },
  { value: 'day', label: 'Last 24 hours', milliseconds: 24 * hour },
  { value: 'week', label: 'Last 7 days', milliseconds: 168 * hour },
  { value: 'time', label: 'A day and time', milliseconds: undefined },
]

/** Mounted again each time the dialog opens, so that it keeps no old input. */
function ReplayForm({
  id,
  onConfirm,
}: {
  id: string
  onConfirm: (since: number) => void
}): ReactNode {
  const [choice, setChoice] = useState('hour')
  const [time, setTime] = useState('')
  const [error, setError] = useState<string>()
  const span = choices.find(({ value }) => value === choice)?.milliseconds
  function submit(event: FormEvent): void {
    event.preventDefault()
    const now = Date.now()
    // Without a zone, a time is read in that of the browser.
    const since = span === undefined ? new Date(time).getTime() : now - span
    if (since >= 0 && since <= now) onConfirm(since)
    else
      setError(
        since > now
          ? 'This time is still to come.'
          : 'Enter a day and a time, such as this morning.',
      )
  }
  return (
    <form id={id} className="stack" noValidate onSubmit={submit}>
      <Select
        label="Since"
        options={choices}
        value={choice}
        onChange={({ target }) => setChoice(target.value)}
      />
      {span === undefined && (
        <Field
          label="Day and time"
          type="datetime-local"
          value={time}
          error={error}
          onChange={({ target }) => setTime(target.value)}
        />
      )}
    </form>
  )
}
