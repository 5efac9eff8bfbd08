import { type ReactNode, useId } from 'react'

/** Lets the merchant choose one of a few values, such as a period. */
export function Choice<value extends string | number>({
  legend,
  options,
  value: chosen,
  onChoose,
}: {
  legend: string
  options: readonly {
    value: value
    label: string
    title?: string | undefined
  }[]
  value: value
  onChoose: (value: value) => void
}): ReactNode {
  const name = useId()
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">{legend}</legend>
      {options.map(({ value, label, title }) => (
        <label key={value} title={title}>
          <input
            type="radio"
            name={name}
            checked={chosen === value}
            onChange={() => onChoose(value)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}
