import { lazy, Suspense } from 'react'
import { BuyerPage } from './buyer/BuyerPage.js'
import { usePath } from './navigation.js'

const MerchantPage = lazy(async () => ({
  default: (await import('./merchant/MerchantPage.js')).MerchantPage,
}))

export function App() {
  const path = usePath()
  return path === '/merchant' || path.startsWith('/merchant/') ? (
    <Suspense fallback={null}>
      <MerchantPage />
    </Suspense>
  ) : (
    <BuyerPage path={path} />
  )
}
