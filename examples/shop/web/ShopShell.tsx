import type { ReactNode } from 'react'
import { usePath } from '../../../src/pages/ui/navigation.js'
import { PageShell } from '../../../src/pages/ui/PageShell.js'
import { brand } from '../brand.js'
import { useBasket } from './basketStore.js'

/** The frame of every page of the shop. */
export function ShopShell({
  title,
  children,
}: {
  title: string
  children: ReactNode
}): ReactNode {
  const path = usePath()
  const count = useBasket().reduce((sum, line) => sum + line.count, 0)
  const links = [
    ['/', 'Products'],
    ['/basket', `Basket (${count})`],
    ['/orders', 'Orders'],
  ] as const
  return (
    <PageShell
      title={title}
      brand={brand.name}
      home="/"
      nav={links.map(([href, label]) => ({
        href,
        label,
        isCurrent: path === href,
      }))}
      footer="A demonstration on a local development chain. Nothing here is for sale, and no real money moves."
    >
      {children}
    </PageShell>
  )
}
