import { type ReactNode, useEffect, useId, useRef } from 'react'

export type DialogProps = {
  open: boolean
  title: string
  /** Escape, or a click beside it. */
  onClose: () => void
  /** Buttons: the safe one first. */
  actions: ReactNode
  children: ReactNode
}

/** A modal question; the focus goes back where it came from. */
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
    // What copies a text is no place to begin.
    element
      .querySelector<HTMLElement>('a, input, select, button:not(.icon-button)')
      ?.focus()
    return () => {
      element.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [open])
  return (
    // Escape closes it from the keyboard; a click beside it is the same.
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
