import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { Money } from '../ui/Money.js'
import { tokenName, useShop } from './shop.js'
import { type TokenAmount, tokenKey } from './splitByToken.js'

/** An amount of a token, by the name that `tokenName` gives it. */
export function TokenMoney({
  amount: { token, value },
  isCeiling,
}: {
  amount: TokenAmount
  isCeiling?: boolean | undefined
}): ReactNode {
  return (
    <Money
      amount={formatAmount(value, token.decimals)}
      symbol={tokenName(useShop(), token)}
      isCeiling={isCeiling}
    />
  )
}

/**
 * Amounts of several tokens, one in each line. Leaves out tokens of which there
 * is nothing, and shows zero if there is nothing at all.
 */
export function TokenAmounts({
  amounts,
}: {
  amounts: readonly TokenAmount[]
}): ReactNode {
  const { tokens } = useShop()
  const [first] = tokens
  const some = amounts.filter(({ value }) => value > 0n)
  if (some.length === 0 && !first) return '–'
  const none = first ? [{ token: first, value: 0n }] : []
  return (some.length > 0 ? some : none).map((amount) => (
    <span key={tokenKey(amount.token)} className="token-line">
      <TokenMoney amount={amount} />
    </span>
  ))
}
