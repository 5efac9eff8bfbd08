import type { ReactNode } from 'react'
import { Problem } from '../api/Problem.js'
import { Notice } from '../ui/Notice.js'
import { NotOpen } from './failures.js'
import type { Paying } from './usePaying.js'

/** For who was still signing when the order got its payment, or ended. */
export function SecondSignature({
  paying: { isRunning, phase, error },
  wasSigned,
}: {
  paying: Paying
  /** Whether the order has a payment, from elsewhere. */
  wasSigned: boolean
}): ReactNode {
  if (isRunning && phase === 'signing')
    return (
      <Notice tone="warn" title="Nothing is to be signed any more">
        {reasonOf(wasSigned)} Decline what your wallet still asks: it would not
        be used.
      </Notice>
    )
  return error instanceof NotOpen || error instanceof Problem ? (
    <Notice tone="warn" title="This signature is not used">
      {reasonOf(wasSigned)} The shop keeps nothing of what was signed here.
    </Notice>
  ) : null
}

function reasonOf(wasSigned: boolean): string {
  return wasSigned
    ? 'The order has its payment already, from another tab or account.'
    : 'The order was closed in the meantime.'
}
