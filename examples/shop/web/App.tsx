import type { ReactNode } from 'react'
import { usePath } from '../../../src/pages/ui/navigation.js'
import { BuyerPage } from './buyer/BuyerPage.js'

export function App(): ReactNode {
  return <BuyerPage path={usePath()} />
}
