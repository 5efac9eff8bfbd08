import type { ReactNode } from 'react'
import { PageShell, type PageShellProps } from '../ui/PageShell.js'
import { useShop } from './shop.js'

/** The frame of every page, with the name of the shop. */
export function MerchantShell(
  props: Omit<PageShellProps, 'brand' | 'home' | 'footer'>,
): ReactNode {
  const { name, root, canWrite } = useShop()
  return (
    <PageShell
      {...props}
      brand={name}
      home={root}
      footer={canWrite ? 'These pages act on real payments.' : 'Read only.'}
    />
  )
}
