import { type ReactNode, useEffect, useId, useRef } from 'react'

export type DialogProps = {
  open: boolean
  title: string
  /** Called on Escape, and on a click outside. */
  onClose: () => void
  /** Buttons, the safe one first. */
  actions: ReactNode
  children: ReactNode
}

/** A modal dialog. When it closes, the focus returns to where it was. */
export function Dialog({
  open,
  title,
  onClose,
  actions,
  children,
}: DialogProps): ReactNode {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current
    if (!element || !open) return
    const before = document.activeElement
    element.showModal()
    // Do not focus a copy button first.
    element
      .querySelector<HTMLElement>('a, input, select, button:not(.icon-button)')
      ?.focus()
    return () => {
      element.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [open])
  return (
    // Escape closes it from the keyboard, as a click outside does.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && isBeside(event)) onClose()
      }}
    >
      {open && (
        <>
          <h2 id={id}>{title}</h2>
          <div className="dialog-body">{children}</div>
          <div className="dialog-foot">{actions}</div>
        </>
      )}
    </dialog>
  )
}

/** The dialog's own padding counts as inside. */
function isBeside({
  currentTarget,
  clientX,
  clientY,
}: {
  currentTarget: HTMLElement
  clientX: number
  clientY: number
}): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
