import type { ReactNode } from 'react'
import { Link } from '../ui/Link.js'
import { useShop } from './shop.js'

/** The lists beside that of all orders, as paths below the first page. */
export type ListName = '' | 'refunds' | 'ceilings' | 'subscriptions'

const labels: Record<ListName, string> = {
  '': 'All orders',
  refunds: 'Refunds',
  ceilings: 'Ceilings',
  subscriptions: 'Subscriptions',
}

export const listNames = Object.keys(labels) as readonly ListName[]

/** Leads from each list to the others. */
export function ListNav({ current }: { current: ListName }): ReactNode {
  const { root, hasSubscriptions } = useShop()
  return (
    <nav className="shell-nav list-nav" aria-label="Lists">
      {listNames
        .filter((name) => name !== 'subscriptions' || hasSubscriptions)
        .map((name) => (
          <Link
            key={name}
            href={root + name}
            aria-current={name === current ? 'page' : undefined}
          >
            {labels[name]}
          </Link>
        ))}
    </nav>
  )
}
