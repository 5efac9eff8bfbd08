import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { getConfig, type ShopConfig } from '../api/shop.js'
import { usePath } from '../navigation.js'
import '../styles/merchant.css'
import { Button } from '../ui/Button.js'
import { setChainTime } from '../ui/clock.js'
import { Notice } from '../ui/Notice.js'
import { PageShell } from '../ui/PageShell.js'
import { Skeleton } from '../ui/Skeleton.js'
import { BooksPage } from './BooksPage.js'
import { createMerchantApi, type MerchantApi } from './merchantApi.js'
import {
  forgetMerchantKey,
  keepMerchantKey,
  readMerchantKey,
} from './merchantKey.js'
import { OrdersPage } from './OrdersPage.js'
import { createOrderBook } from './orderBook.js'
import { ProofPage } from './ProofPage.js'
import { SignInPage } from './SignInPage.js'
import { ShopContext } from './shopConfig.js'

const orderPath = /^\/merchant\/orders\/(.+)$/

/** All of the merchant's pages; the key of the link opens them. */
export function MerchantPage(): ReactNode {
  const [key, setKey] = useState(readMerchantKey)
  const [wasRefused, setRefused] = useState(false)
  const signOut = useCallback((isRefused: boolean) => {
    forgetMerchantKey()
    setRefused(isRefused)
    setKey(undefined)
  }, [])
  const api = useMemo(
    () => key && createMerchantApi(key, () => signOut(true)),
    [key, signOut],
  )
  function signIn(given: string): void {
    keepMerchantKey(given)
    setKey(given)
  }
  if (!api) return <SignInPage onKey={signIn} wasRefused={wasRefused} />
  return <SignedIn api={api} onSignOut={() => signOut(false)} />
}

function SignedIn({
  api,
  onSignOut,
}: {
  api: MerchantApi
  onSignOut: () => void
}): ReactNode {
  const path = usePath()
  const book = useMemo(() => createOrderBook(api), [api])
  const { shop, problem } = useShopConfig(api)
  const [, orderId] = orderPath.exec(path) ?? []
  const isBooks = path === '/merchant/books'
  const title = orderId ? 'Proof' : isBooks ? 'Books and health' : 'Orders'
  return (
    <PageShell
      wide
      title={title}
      home="/merchant"
      nav={[
        { href: '/merchant', label: 'Orders', isCurrent: title === 'Orders' },
        { href: '/merchant/books', label: 'Books', isCurrent: isBooks },
      ]}
      actions={
        <Button variant="quiet" size="small" onClick={onSignOut}>
          Sign out
        </Button>
      }
    >
      {problem && <Notice tone="bad" title={problem} />}
      {!shop && !problem && <Skeleton lines={5} />}
      {shop && (
        <ShopContext value={shop}>
          {orderId ? (
            <ProofPage key={orderId} api={api} orderId={decode(orderId)} />
          ) : isBooks ? (
            <BooksPage api={api} />
          ) : (
            <OrdersPage api={api} book={book} />
          )}
        </ShopContext>
      )}
    </PageShell>
  )
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The shop's terms, and once the chain's time for the countdowns. */
function useShopConfig(api: MerchantApi): {
  shop: ShopConfig | undefined
  problem: string | undefined
} {
  const [shop, setShop] = useState<ShopConfig>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    getConfig().then(setShop, () =>
      setProblem('The shop does not answer. Is it still running?'),
    )
    api.health().then(
      ({ chains }) => {
        const time = chains[0]?.time
        if (time !== undefined) setChainTime(Number(time))
      },
      () => undefined,
    )
  }, [api])
  return { shop, problem }
}
