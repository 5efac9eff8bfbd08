import { ProblemError } from 'countersign/client'
import type { ReactNode } from 'react'
import { Notice } from '../../../../src/pages/ui/Notice.js'
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
      <Notice tone="warn" title="You no longer need to sign">
        {reasonOf(wasSigned)} If your wallet still asks you to sign, decline.
      </Notice>
    )
  return error instanceof NotOpen || error instanceof ProblemError ? (
    <Notice tone="warn" title="The shop did not use this signature">
      {reasonOf(wasSigned)} The shop did not keep it.
    </Notice>
  ) : null
}

function reasonOf(wasSigned: boolean): string {
  return wasSigned
    ? 'You already authorized this payment from another tab or account.'
    : 'The order was closed before you signed.'
}
