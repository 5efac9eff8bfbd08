import { type ReactNode, useId } from 'react'
import { formatSigned } from '../../core/formatSigned.js'
import { useWidth } from './useWidth.js'

const height = 200
const floor = height - 24
const top = 10

export type ChartPart = {
  /** Its colour: the end of a class `bar-…`. */
  look: string
  /** Base units. Negative ones hang below the line. */
  value: bigint
}

export type ChartBar = {
  key: string | number
  label: string
  /** From the line outwards. */
  parts: readonly ChartPart[]
}

/** Draws bars of stacked parts. A table beside it must show the same figures. */
export function BarChart({
  title,
  words,
  bars,
  decimals,
  empty,
  legend,
}: {
  title: string
  /** The sums, for those who do not see the picture. */
  words: string
  bars: readonly ChartBar[]
  decimals: number
  /** Shown if there is no bar. */
  empty: string
  legend: readonly { look: string; words: string }[]
}): ReactNode {
  const id = useId()
  const { ref, width } = useWidth()
  const most = mostOf(bars, 1n)
  const least = mostOf(bars, -1n)
  const ceiling = most || !least ? roundUp(most, decimals) : 0n
  const bottom = least && roundUp(least, decimals)
  const ticks = [-bottom, 0n, ceiling / 2n, ceiling]
  const lines = [...new Set(ticks)].map((value) => ({
    value,
    text: axisText(value, decimals),
  }))
  const left = 14 + 6.5 * Math.max(5, ...lines.map(({ text }) => text.length))
  const step = (width - left) / bars.length
  const every = Math.ceil(bars.length / (width < 480 ? 3 : 5))
  const y = (value: bigint) =>
    floor -
    (Number(((value + bottom) * 1000n) / (ceiling + bottom)) / 1000) *
      (floor - top)
  return (
    <figure className="chart" ref={ref}>
      <svg
        role="img"
        aria-labelledby={`${id}-title ${id}-words`}
        viewBox={`0 0 ${width} ${height}`}
      >
        <title id={`${id}-title`}>{title}</title>
        <desc id={`${id}-words`}>{words}</desc>
        {lines.map(({ value, text }) => (
          <g key={text}>
            <line
              className="chart-line"
              x1={left}
              x2={width}
              y1={y(value)}
              y2={y(value)}
            />
            <text className="chart-text" x={left - 8} y={y(value) + 4}>
              {text}
            </text>
          </g>
        ))}
        {bars.map(({ key, parts }, at) => (
          <g key={key}>
            {stack(parts).map(({ look, from, to }) => (
              <rect
                key={look}
                className={`bar-${look}`}
                x={left + at * step + step * 0.14}
                y={y(to)}
                width={step * 0.72}
                height={Math.max(1, y(from) - y(to))}
                rx={Math.min(2, step / 5)}
              />
            ))}
          </g>
        ))}
        {bars.map(({ key, label }, at) =>
          (bars.length - 1 - at) % every === 0 ? (
            <text
              key={key}
              className="chart-text chart-text-middle"
              x={Math.min(left + at * step + step / 2, width - 18)}
              y={height - 6}
            >
              {label}
            </text>
          ) : null,
        )}
      </svg>
      {!most && !least && <p className="chart-empty">{empty}</p>}
      <figcaption className="row legend">
        {legend.map(({ look, words: text }) => (
          <span key={look} className="legend-item">
            <span className={`swatch bar-${look}`} aria-hidden="true" />
            {text}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

/** Puts the parts of a bar above and below the line. */
function stack(
  parts: readonly ChartPart[],
): { look: string; from: bigint; to: bigint }[] {
  let [above, below] = [0n, 0n]
  return parts
    .filter(({ value }) => value !== 0n)
    .map(({ look, value }) => {
      if (value < 0n) {
        below += value
        return { look, from: below, to: below - value }
      }
      above += value
      return { look, from: above - value, to: above }
    })
}

/** The longest bar on one side of the line. */
function mostOf(bars: readonly ChartBar[], sign: bigint): bigint {
  const sums = bars.map(({ parts }) =>
    parts.reduce(
      (sum, { value }) => (value * sign > 0n ? sum + value * sign : sum),
      0n,
    ),
  )
  return sums.reduce((max, sum) => (sum > max ? sum : max), 0n)
}

/**
 * Rounds up to 1, 2 or 5 times a power of ten; without a value to one token.
 */
function roundUp(value: bigint, decimals: number): bigint {
  if (value === 0n) return 10n ** BigInt(decimals)
  // Not below ten base units, which have a middle.
  for (let unit = 10n; ; unit *= 10n)
    for (const factor of [1n, 2n, 5n])
      if (unit * factor >= value) return unit * factor
}

function axisText(value: bigint, decimals: number): string {
  const [whole = '', ...fraction] = formatSigned(value, { decimals }).split('.')
  return [whole.replace(/\B(?=(\d{3})+(?!\d))/g, ','), ...fraction].join('.')
}
