import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { groupAmount, shortAmount } from './format.js'

export type MoneyProps = {
  /** A decimal in whole tokens. */
  amount: string
  symbol: string
  large?: boolean | undefined
  /** True if the amount is a ceiling. */
  isCeiling?: boolean | undefined
  /** Shows few digits, with the exact amount in the title. */
  short?: boolean | undefined
}

export function Money({
  amount,
  symbol,
  large = false,
  isCeiling = false,
  short = false,
}: MoneyProps): ReactNode {
  const shown = short ? shortAmount(amount) : amount
  return (
    <span
      className={classNames('money', large && 'money-large')}
      title={shown === amount ? undefined : `${amount} ${symbol}`}
    >
      {isCeiling && <span className="money-symbol">at most </span>}
      {groupAmount(shown)} <span className="money-symbol">{symbol}</span>
    </span>
  )
}
