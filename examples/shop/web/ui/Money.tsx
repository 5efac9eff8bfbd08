import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { groupAmount } from './format.js'

export type MoneyProps = {
  /** A decimal in whole tokens. */
  amount: string
  symbol: string
  large?: boolean | undefined
}

export function Money({
  amount,
  symbol,
  large = false,
}: MoneyProps): ReactNode {
  return (
    <span className={classNames('money', large && 'money-large')}>
      {groupAmount(amount)} <span className="money-symbol">{symbol}</span>
    </span>
  )
}
