import type { Result } from '../bench/results.js'

/** Colours of both themes, and the texts of every plot. */
export const plotStyle = `  <style>
    svg { --back: #ffffff; --line: #d5dae0; --ink: #16202b; --soft: #4a5561; --bar: #2f6fbf; }
    @media (prefers-color-scheme: dark) {
      svg { --back: #12171d; --line: #343c46; --ink: #f0f4f8; --soft: #b6c1cc; --bar: #6aa3e8; }
    }
    text { font: 14px ui-sans-serif, system-ui, sans-serif; fill: var(--ink); }
    .head { font-weight: 600; }
    .label { text-anchor: end; }
    .value { font-weight: 600; }
    .note { font-size: 12px; fill: var(--soft); }
    .bar { fill: var(--bar); }
    .tick { stroke: var(--line); }
    .peer { fill: var(--line); }
    .stale { opacity: 0.5; }
  </style>`

const left = 360
const right = 720
const [top, step] = [64, 52]

/** Bars of both sides of each row, on one logarithmic scale. */
export function drawSides(title: string, rows: readonly Result[]): string {
  const values = rows.flatMap(({ sides }) => [sides?.own, sides?.peer])
  const known = values.filter((value) => value !== undefined)
  const least = Math.min(...known) / 2
  const most = Math.max(...known)
  const width = (value: number): number =>
    Math.round(
      ((right - left) * Math.log(value / least)) / Math.log(most / least),
    )
  const height = top + Math.max(1, rows.length) * step + 28
  const bars = rows.map((row, index) =>
    drawRow(row, { y: top + index * step, width }),
  )
  const isStale = rows.some(({ stale }) => stale)
  const note = rows.length === 0 ? 'not measured yet' : 'logarithmic scale'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 ${height}" width="800" height="${height}" role="img" aria-labelledby="title text">
  <title id="title">${title}</title>
  <desc id="text">${rows.map(describe).join(' ') || 'Not measured yet.'}</desc>
${plotStyle}
  <rect width="800" height="${height}" rx="12" style="fill: var(--back)"/>
  <text x="24" y="32" class="head">${title}</text>
  <text x="770" y="32" class="note" text-anchor="end">${note}${isStale ? '; pale: measured before the last change' : ''}</text>
${bars.join('\n')}
</svg>
`
}

function drawRow(
  { name, peer, sides, stale }: Result,
  { y, width }: { y: number; width: (value: number) => number },
): string {
  const { own = 0, peer: other = 0, unit = '' } = sides ?? {}
  const bar = (value: number, at: number, kind: string) =>
    `  <rect class="${kind}" x="${left}" y="${at}" width="${width(value)}" height="16" rx="3"/>
  <text x="${left + width(value) + 8}" y="${at + 13}" class="note">${show(value)} ${unit}</text>`
  return `  <g class="${stale ? 'stale' : 'fresh'}">
  <text x="${left - 12}" y="${y + 14}" class="label">${escapeText(name)}</text>
  <text x="${left - 12}" y="${y + 32}" class="note label">${escapeText(peer)}</text>
${bar(own, y + 2, 'bar')}
${bar(other, y + 21, 'peer')}
  </g>`
}

function describe({ name, peer, sides }: Result): string {
  const { own = 0, peer: other = 0, unit = '' } = sides ?? {}
  return escapeText(
    `${name}: ${show(own)} ${unit}; ${peer}: ${show(other)} ${unit}.`,
  )
}

function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
