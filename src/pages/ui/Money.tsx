import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { groupAmount } from './format.js'

export type MoneyProps = {
  /** A decimal in whole tokens. */
  amount: string
  symbol: string
  large?: boolean | undefined
  /** True if the amount is a ceiling. */
  isCeiling?: boolean | undefined
}

export function Money({
  amount,
  symbol,
  large = false,
  isCeiling = false,
}: MoneyProps): ReactNode {
  return (
    <span className={classNames('money', large && 'money-large')}>
      {isCeiling && <span className="money-symbol">at most </span>}
      {groupAmount(amount)} <span className="money-symbol">{symbol}</span>
    </span>
  )
}
