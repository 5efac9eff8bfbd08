import type { ReactNode } from 'react'
import { CopyButton } from './CopyButton.js'
import { shortHex } from './format.js'

export type AddressTextProps = {
  address: string
  /** Names the owner for the copy button. @default 'address' */
  label?: string | undefined
  /** Shows the whole address, for comparing it with the wallet's text. */
  whole?: boolean | undefined
}

export function AddressText({
  address,
  label = 'address',
  whole = false,
}: AddressTextProps): ReactNode {
  if (whole)
    return (
      <span className="hex hex-whole">
        {address}
        <CopyButton text={address} label={label} />
      </span>
    )
  return (
    <span className="hex">
      <span aria-hidden="true" title={address}>
        {shortHex(address)}
      </span>
      <span className="visually-hidden">{address}</span>
      <CopyButton text={address} label={label} />
    </span>
  )
}
