import type { ReactNode } from 'react'
import { ButtonLink } from '../../../../src/pages/ui/Button.js'
import { EmptyState } from '../../../../src/pages/ui/EmptyState.js'
import { ShopShell } from '../ShopShell.js'

/** The same for strangers as for what never was. */
export function OrderNotFound(): ReactNode {
  return (
    <NotFound title="Order not found">
      This browser has no such order. You can see an order only in the browser
      in which you placed it.
    </NotFound>
  )
}

export function NotFound({
  title,
  children,
}: {
  title: string
  children: ReactNode
}): ReactNode {
  const action = <ButtonLink href="/">See all products</ButtonLink>
  return (
    <ShopShell title={title}>
      <EmptyState title={title} level={1} action={action}>
        {children}
      </EmptyState>
    </ShopShell>
  )
}
