import type { ReactNode } from 'react'

export function Stat({
  label,
  note,
  children,
}: {
  label: string
  note?: ReactNode
  children: ReactNode
}): ReactNode {
  return (
    <div className="card stat">
      <p className="stat-label">{label}</p>
      <p className="stat-value">{children}</p>
      {note && <p className="stat-note">{note}</p>}
    </div>
  )
}
