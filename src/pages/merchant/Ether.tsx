import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { Money } from '../ui/Money.js'

/** Shows wei in a few digits of ether, with all of them in the title. */
export function Ether({ wei }: { wei: string }): ReactNode {
  return <Money short amount={formatAmount(BigInt(wei), 18)} symbol="ETH" />
}
