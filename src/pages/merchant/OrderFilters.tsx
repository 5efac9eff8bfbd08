import { type FormEvent, type ReactNode, useState } from 'react'
import type { OrderState } from '../../store/types.js'
import { Button } from '../ui/Button.js'
import { Field, Select } from '../ui/Field.js'
import { shownStates, stateWords } from '../ui/states.js'
import type { OrderFilter } from './merchantApi.js'

const groups: Record<string, readonly OrderState[]> = {
  open: ['stored', 'capturing', 'canceling'],
  ended: ['voided', 'canceled', 'expired'],
}

const options = [
  { value: '', label: 'All states' },
  { value: 'open', label: 'Open: something to do' },
  { value: 'ended', label: 'Ended without payment' },
  ...shownStates.map((value) => ({ value, label: stateWords(value).label })),
]

/** Filters the table by state and payer. */
export function OrderFilters({
  filter,
  onFilter,
}: {
  filter: OrderFilter
  onFilter: (filter: OrderFilter) => void
}): ReactNode {
  const [chosen, setChosen] = useState(() => choiceOf(filter.states))
  const [payer, setPayer] = useState(filter.payer ?? '')
  const [error, setError] = useState<string>()
  function apply(choice: string, address: string): void {
    const isAddress = /^0x[\da-f]{40}$/i.test(address)
    setError(
      address && !isAddress ? 'An address has 40 digits after 0x.' : undefined,
    )
    if (!address || isAddress)
      onFilter({ states: statesOf(choice), payer: address || undefined })
  }
  function submit(event: FormEvent): void {
    event.preventDefault()
    apply(chosen, payer.trim())
  }
  return (
    <search>
      <form className="filters" onSubmit={submit}>
        <Select
          small
          label="State"
          options={options}
          value={chosen}
          onChange={({ target }) => {
            setChosen(target.value)
            apply(target.value, payer.trim())
          }}
        />
        <Field
          small
          label="Payer"
          placeholder="0x…"
          autoComplete="off"
          spellCheck={false}
          value={payer}
          error={error}
          onChange={({ target }) => setPayer(target.value)}
        />
        <Button type="submit" size="small">
          Filter
        </Button>
      </form>
    </search>
  )
}

function statesOf(choice: string): readonly OrderState[] | undefined {
  if (!choice) return undefined
  const single = shownStates.filter((state) => state === choice)
  // An option is either a group of states, or a single state.
  return groups[choice] ?? single
}

function choiceOf(states: readonly OrderState[] | undefined): string {
  if (!states) return ''
  const group = Object.entries(groups).find(
    ([, all]) => all.join() === states.join(),
  )
  return group?.[0] ?? states[0] ?? ''
}
