import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { classNames } from './classNames.js'
import { Link } from './Link.js'
import { Spinner } from './Spinner.js'

type ButtonVariant = 'primary' | 'secondary' | 'quiet' | 'danger'

export type ButtonProps = Omit<ComponentProps<'button'>, 'className'> & {
  variant?: ButtonVariant | undefined
  size?: 'medium' | 'small' | undefined
  wide?: boolean | undefined
  /** True while its action runs. Clicks are ignored, and the focus stays. */
  busy?: boolean | undefined
}

export function Button({
  variant = 'secondary',
  size = 'medium',
  wide = false,
  busy = false,
  onClick,
  children,
  type = 'button',
  ...rest
}: ButtonProps): ReactNode {
  function click(event: MouseEvent<HTMLButtonElement>): void {
    if (busy) event.preventDefault()
    else onClick?.(event)
  }
  return (
    <button
      {...rest}
      type={type}
      className={buttonClass(variant, size, wide)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      onClick={click}
    >
      {busy && <Spinner />}
      {children}
    </button>
  )
}

export type ButtonLinkProps = Omit<
  ComponentProps<'a'>,
  'className' | 'href'
> & {
  href: string
  variant?: ButtonVariant | undefined
  size?: 'medium' | 'small' | undefined
  wide?: boolean | undefined
}

/** A link that looks like a button. */
export function ButtonLink({
  variant = 'secondary',
  size = 'medium',
  wide = false,
  children,
  ...rest
}: ButtonLinkProps): ReactNode {
  return (
    <Link {...rest} className={buttonClass(variant, size, wide)}>
      {children}
    </Link>
  )
}

function buttonClass(variant: string, size: string, wide: boolean): string {
  return classNames(
    'button',
    `button-${variant}`,
    size === 'small' && 'button-small',
    wide && 'button-wide',
  )
}
