import { type ReactNode, useEffect, useState } from 'react'
import { Icon } from './Icon.js'

/** Copies a text, and confirms it. */
export function CopyButton({
  text,
  label,
}: {
  text: string
  /** What the text is, such as `address`. */
  label: string
}): ReactNode {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), 1_600)
    return () => clearTimeout(timer)
  }, [state])
  function copy(): void {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  }
  return (
    <>
      <button
        type="button"
        className="icon-button icon-button-small"
        aria-label={`Copy ${label}`}
        onClick={copy}
      >
        <Icon name={state === 'copied' ? 'check' : 'copy'} size={14} />
      </button>
      <span className="visually-hidden" role="status">
        {state === 'copied' && 'Copied'}
        {state === 'failed' && 'Could not be copied'}
      </span>
    </>
  )
}
