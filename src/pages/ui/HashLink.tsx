import type { ReactNode } from 'react'
import { CopyButton } from './CopyButton.js'
import { shortHex } from './format.js'

export type HashLinkProps = {
  hash: string
  /** Address of an explorer page. Without it, the hash is plain text. */
  href?: string | undefined
  /** @default 'transaction hash' */
  label?: string | undefined
  whole?: boolean | undefined
}

export function HashLink({
  hash,
  href,
  label = 'transaction hash',
  whole = false,
}: HashLinkProps): ReactNode {
  const text = whole ? hash : shortHex(hash)
  return (
    <span className={whole ? 'hex hex-whole' : 'hex'}>
      {href ? (
        <a href={href} title={hash} target="_blank" rel="noreferrer">
          {text}
        </a>
      ) : (
        <span title={hash}>{text}</span>
      )}
      <CopyButton text={hash} label={label} />
    </span>
  )
}
