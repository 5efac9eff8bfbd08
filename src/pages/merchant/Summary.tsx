import type { ReactNode } from 'react'
import { formatAmount } from '../../core/amount.js'
import { Countdown } from '../ui/Countdown.js'
import { useNow } from '../ui/clock.js'
import { Money } from '../ui/Money.js'
import { Stat } from '../ui/Stat.js'
import type { BookOrder } from './applyEvent.js'
import { sumExposure } from './exposure.js'
import { useSumsToken } from './shop.js'

/** The four figures a merchant looks at first. */
export function Summary({
  orders,
  isPartial,
}: {
  orders: ReadonlyMap<string, BookOrder>
  isPartial: boolean
}): ReactNode {
  const { symbol, decimals } = useSumsToken()
  const now = useNow()
  const all = [...orders.values()]
  const waiting = all.filter(({ state }) => state === 'stored')
  const { total, count } = sumExposure(all, now, decimals)
  const day = all.filter(
    ({ capture }) => capture && Number(capture.blockTime) > now - 86_400,
  )
  const captured = day.reduce((sum, { value }) => sum + BigInt(value), 0n)
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
        <Money amount={formatAmount(total, decimals)} symbol={symbol} />
      </Stat>
      <Stat
        label="Captured, last 24 hours"
        note={`${least}${day.length} ${day.length === 1 ? 'payment' : 'payments'}`}
      >
        <Money amount={formatAmount(captured, decimals)} symbol={symbol} />
      </Stat>
    </section>
  )
}
