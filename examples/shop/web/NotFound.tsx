import type { ReactNode } from 'react'
import { ButtonLink } from '../../../src/pages/ui/Button.js'
import { EmptyState } from '../../../src/pages/ui/EmptyState.js'
import { ShopShell } from './ShopShell.js'

/** A page without content, and the way to the products. */
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
