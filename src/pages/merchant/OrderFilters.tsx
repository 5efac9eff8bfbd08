import { type FormEvent, type ReactNode, useState } from 'react'
import type { OrderState } from '../../store/types.js'
import { Button } from '../ui/Button.js'
import { Field, Select } from '../ui/Field.js'
import { shownStates, stateWords } from '../ui/states.js'
import type { OrderFilter } from './merchantApi.js'
import { readAmount } from './readAmount.js'

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

/** What the fields of the form contain. */
type Typed = Record<
  'state' | 'search' | 'from' | 'to' | 'least' | 'most',
  string
>

/** Finds orders by what names them, and by state, date and amount. */
export function OrderFilters({
  filter,
  onFilter,
}: {
  filter: OrderFilter
  onFilter: (filter: OrderFilter) => void
}): ReactNode {
  const [typed, setTyped] = useState(() => typedOf(filter))
  const { least, most } = typed
  const [isWrong, setWrong] = useState(false)
  const [isOpen, setOpen] = useState(
    () => typed.from + typed.to + least + most !== '',
  )
  const isAmount = (text: string) => !text || readAmount(text, 36) !== undefined
  const error = (text: string) =>
    isWrong && !isAmount(text.trim()) ? 'An amount such as 12.50.' : undefined
  function apply(given: Typed): void {
    const all = trim(given)
    const isRight = isAmount(all.least) && isAmount(all.most)
    setWrong(!isRight)
    if (isRight) onFilter(filterOf(all))
    else setOpen(true)
  }
  const field = (name: keyof Typed) => ({
    small: true,
    autoComplete: 'off',
    value: typed[name],
    onChange: ({ target }: { target: { value: string } }) =>
      setTyped({ ...typed, [name]: target.value }),
  })
  return (
    <search>
      <form
        className="filters"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          apply(typed)
        }}
      >
        <Select
          small
          label="State"
          options={options}
          value={typed.state}
          onChange={({ target }) => {
            const all = { ...typed, state: target.value }
            setTyped(all)
            apply(all)
          }}
        />
        <Field
          {...field('search')}
          label="Find"
          placeholder="Id, address or hash"
          spellCheck={false}
        />
        <Button type="submit" size="small">
          Filter
        </Button>
        <details
          className="filters-more"
          open={isOpen}
          onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
        >
          <summary>Dates and amounts</summary>
          <div className="filters">
            <Field {...field('from')} label="From" type="date" />
            <Field {...field('to')} label="To" type="date" />
            <Field
              {...field('least')}
              label="At least"
              inputMode="decimal"
              error={error(least)}
            />
            <Field
              {...field('most')}
              label="At most"
              inputMode="decimal"
              error={error(most)}
            />
          </div>
        </details>
      </form>
    </search>
  )
}

function trim(typed: Typed): Typed {
  return {
    ...typed,
    search: typed.search.trim(),
    least: typed.least.trim(),
    most: typed.most.trim(),
  }
}

function filterOf(typed: Typed): OrderFilter {
  const { state, search, from, to, least, most } = typed
  return {
    // An option is either a group of states, or a single state.
    states: state
      ? (groups[state] ?? shownStates.filter((one) => one === state))
      : undefined,
    search: search || undefined,
    from: startOf(from, 0),
    to: startOf(to, 1),
    least: least || undefined,
    most: most || undefined,
  }
}

function typedOf({
  states,
  search,
  from,
  to,
  least,
  most,
}: OrderFilter): Typed {
  const group = Object.entries(groups).find(
    ([, all]) => all.join() === states?.join(),
  )
  return {
    state: group?.[0] ?? states?.[0] ?? '',
    search: search ?? '',
    from: dayOf(from),
    to: dayOf(to === undefined ? undefined : to - 1),
    least: least ?? '',
    most: most ?? '',
  }
}

/** Unix seconds at which a day begins in this time zone, or a day after it. */
function startOf(day: string, later: number): number | undefined {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return day
    ? new Date(year, month - 1, date + later).getTime() / 1000
    : undefined
}

function dayOf(time: number | undefined): string {
  if (time === undefined) return ''
  const at = new Date(time * 1000)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`
}
