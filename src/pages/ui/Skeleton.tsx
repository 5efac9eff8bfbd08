import type { ReactNode } from 'react'

/** Placeholder lines while text loads. */
export function Skeleton({
  lines = 3,
  label = 'Loading',
}: {
  lines?: number
  label?: string
}): ReactNode {
  return (
    <div className="stack stack-tight" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span
          // The lines are alike and keep their order.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={line}
          className="skeleton"
          style={{ width: `${100 - (line % 3) * 16}%` }}
        />
      ))}
    </div>
  )
}
