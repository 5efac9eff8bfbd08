import { type ReactNode, useId } from 'react'
import { formatAmount } from '../../core/amount.js'
import { groupAmount } from '../ui/format.js'
import { finalityWords } from '../ui/states.js'
import {
  type SettlementBar,
  type Span,
  settledFinalities,
  span,
} from './settlement.js'
import { useSumsToken } from './shop.js'
import { useWidth } from './useWidth.js'

const height = 200
const floor = height - 24
const top = 10
const left = 46

/** Draws bars stacked by finality. The table below shows the same figures. */
export function SettlementChart({
  bars,
  unit,
}: {
  bars: readonly SettlementBar[]
  unit: Span
}): ReactNode {
  const { symbol, decimals } = useSumsToken()
  const id = useId()
  const most = bars.reduce((max, { total }) => (total > max ? total : max), 0n)
  const ceiling = roundUp(most, decimals)
  const { ref, width } = useWidth()
  const step = (width - left) / bars.length
  const every = width < 480 ? bars.length / 3 : 6
  const y = (value: bigint) =>
    floor - (Number((value * 1000n) / ceiling) / 1000) * (floor - top)
  const sum = bars.reduce((all, { total }) => all + total, 0n)
  const count = bars.reduce((all, bar) => all + bar.count, 0)
  return (
    <figure className="chart" ref={ref}>
      <svg
        role="img"
        aria-labelledby={`${id}-title ${id}-words`}
        viewBox={`0 0 ${width} ${height}`}
      >
        <title id={`${id}-title`}>{`Captured. ${span[unit].label}`}</title>
        <desc id={`${id}-words`}>
          {`${count} captures, ${groupAmount(formatAmount(sum, decimals))} ${symbol} in total. The table below has the figures.`}
        </desc>
        {[0n, ceiling / 2n, ceiling].map((value) => (
          <g key={String(value)}>
            <line
              className="chart-line"
              x1={left}
              x2={width}
              y1={y(value)}
              y2={y(value)}
            />
            <text className="chart-text" x={left - 8} y={y(value) + 4}>
              {axisText(value, decimals)}
            </text>
          </g>
        ))}
        {bars.map((bar, at) => (
          <Bar
            key={bar.from}
            bar={bar}
            x={left + at * step + step * 0.14}
            width={step * 0.72}
            y={y}
          />
        ))}
        {bars.map(({ from }, at) =>
          (bars.length - 1 - at) % every === 0 ? (
            <text
              key={from}
              className="chart-text chart-text-middle"
              x={Math.min(left + at * step + step / 2, width - 18)}
              y={height - 6}
            >
              {clock(from)}
            </text>
          ) : null,
        )}
      </svg>
      {count === 0 && (
        <p className="chart-empty">No captures in this period.</p>
      )}
      <figcaption className="row legend">
        {[...settledFinalities].reverse().map((finality) => (
          <span key={finality} className="legend-item">
            <span className={`swatch bar-${finality}`} aria-hidden="true" />
            {finalityWords[finality]}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function Bar({
  bar,
  x,
  width: barWidth,
  y,
}: {
  bar: SettlementBar
  x: number
  width: number
  y: (value: bigint) => number
}): ReactNode {
  let below = 0n
  return settledFinalities.map((finality) => {
    const value = bar.sums[finality]
    if (value === 0n) return null
    const base = y(below)
    below += value
    return (
      <rect
        key={finality}
        className={`bar-${finality}`}
        x={x}
        y={y(below)}
        width={barWidth}
        height={Math.max(1, base - y(below))}
        rx={2}
      />
    )
  })
}

/** Rounds up to 1, 2 or 5 times a power of ten, in token units. */
function roundUp(value: bigint, decimals: number): bigint {
  let unit = 10n ** BigInt(decimals)
  for (;;) {
    for (const factor of [1n, 2n, 5n])
      if (unit * factor >= value) return unit * factor
    unit *= 10n
  }
}

function axisText(value: bigint, decimals: number): string {
  return formatAmount(value, decimals).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

export function clock(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    hour12: false,
  })
}
