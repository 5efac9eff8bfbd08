import type { ReactNode } from 'react'
import {
  PageShell,
  type PageShellProps,
} from '../../../src/pages/ui/PageShell.js'
import { brand } from './brand.js'

/** The frame of every page of the shop. */
export function ShopShell(
  props: Omit<PageShellProps, 'brand' | 'home' | 'footer'>,
): ReactNode {
  return (
    <PageShell
      {...props}
      brand={brand.name}
      home="/"
      footer="A demonstration on a local development chain. Nothing here is for sale, and no real money moves."
    />
  )
}
