import { type ComponentProps, type ReactNode, useId } from 'react'
import { classNames } from './classNames.js'

type FieldWords = {
  label: string
  hint?: string | undefined
  error?: string | undefined
  small?: boolean | undefined
}

export type FieldProps = FieldWords &
  Omit<ComponentProps<'input'>, 'className' | 'id'>

/** A text input with its label, hint and error. */
export function Field({
  label,
  hint,
  error,
  small = false,
  ...rest
}: FieldProps): ReactNode {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        id={id}
        className={classNames('input', small && 'input-small')}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, hint, error)}
      />
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  )
}

export type SelectProps = FieldWords &
  Omit<ComponentProps<'select'>, 'className' | 'id' | 'children'> & {
    options: readonly { value: string; label: string }[]
  }

export function Select({
  label,
  hint,
  error,
  small = false,
  options,
  ...rest
}: SelectProps): ReactNode {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        {...rest}
        id={id}
        className={classNames('input', small && 'input-small')}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, hint, error)}
      >
        {options.map(({ value, label: words }) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      <FieldNotes id={id} hint={hint} error={error} />
    </div>
  )
}

function FieldNotes({
  id,
  hint,
  error,
}: {
  id: string
  hint: string | undefined
  error: string | undefined
}): ReactNode {
  return (
    <>
      {hint && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </>
  )
}

function describedBy(
  id: string,
  hint: string | undefined,
  error: string | undefined,
): string | undefined {
  const ids = [hint && `${id}-hint`, error && `${id}-error`]
  return ids.filter(Boolean).join(' ') || undefined
}
