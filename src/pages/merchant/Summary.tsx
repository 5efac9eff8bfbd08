import type { ReactNode } from 'react'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import { Stat } from '../ui/Stat.js'
import type { BookOrder } from './applyEvent.js'
import { sumExposure } from './exposure.js'
import { useShop } from './shop.js'
import { splitByToken } from './splitByToken.js'
import { TokenAmounts } from './TokenMoney.js'

/**
 * The four figures a merchant looks at first. Those of money have one line for
 * each token.
 */
export function Summary({
  orders,
  isPartial,
}: {
  orders: ReadonlyMap<string, BookOrder>
  isPartial: boolean
}): ReactNode {
  const shop = useShop()
  const now = useNow()
  const all = [...orders.values()]
  const waiting = all.filter(({ state }) => state === 'stored')
  const exposures = splitByToken(all, shop).map(({ token, orders: own }) => ({
    token,
    ...sumExposure(own, now, token.decimals),
  }))
  const count = exposures.reduce((sum, one) => sum + one.count, 0)
  const day = all.filter(
    ({ capture }) => capture && Number(capture.blockTime) > now - 86_400,
  )
  const captured = splitByToken(day, shop).map(({ token, orders: own }) => ({
    token,
    value: own.reduce((sum, { value }) => sum + BigInt(value), 0n),
  }))
  const next = waiting
    .map(({ validBefore }) => Number(validBefore))
    .filter((end) => end > now)
    .sort((a, b) => a - b)
    .at(0)
  const least = isPartial ? 'at least ' : ''
  return (
    <section className="stats" aria-label="At a glance">
      <Stat label="To capture" note="signed and ready to capture">
        {waiting.length}
      </Stat>
      <Stat
        label="Next deadline"
        note={next ? 'until the first window closes' : 'nothing is waiting'}
      >
        {next ? <Countdown until={next} near={300} /> : '–'}
      </Stat>
      <Stat
        label="Exposure"
        note={`${least}${count} ${count === 1 ? 'payment' : 'payments'} with a valid signature`}
      >
        <TokenAmounts
          amounts={exposures.map(({ token, total: value }) => ({
            token,
            value,
          }))}
        />
      </Stat>
      <Stat
        label="Captured, last 24 hours"
        note={`${least}${day.length} ${day.length === 1 ? 'payment' : 'payments'}`}
      >
        <TokenAmounts amounts={captured} />
      </Stat>
    </section>
  )
}
