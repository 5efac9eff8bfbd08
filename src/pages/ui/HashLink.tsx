import type { ReactNode } from 'react'
import { CopyButton } from './CopyButton.js'
import { shortHex } from './format.js'
import { Link } from './Link.js'

export type HashLinkProps = {
  hash: string
  /** Where it is explained; without, the hash is only text. */
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
        <Link href={href} title={hash}>
          {text}
        </Link>
      ) : (
        <span title={hash}>{text}</span>
      )}
      <CopyButton text={hash} label={label} />
    </span>
  )
}
