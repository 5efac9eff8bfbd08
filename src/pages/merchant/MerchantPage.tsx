import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react'
import { decodePercent } from '../../core/decodePercent.js'
import { Button } from '../ui/Button.js'
import { setChainTime } from '../ui/clock.js'
import { usePath } from '../ui/navigation.js'
import { BooksPage } from './BooksPage.js'
import { listNames } from './ListNav.js'
import { ListPage } from './ListPage.js'
import { MerchantShell } from './MerchantShell.js'
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
import { SubscriptionPage } from './SubscriptionPage.js'
import { SubscriptionsPage } from './SubscriptionsPage.js'
import { type PagesShop, ShopContext } from './shop.js'

type Access = {
  /** Absent if the browser's session is enough. */
  key?: string | undefined
}

/**
 * Shows the merchant's pages to a merchant with a key or a session, and asks
 * everyone else for a key.
 */
export function MerchantPage({ shop }: { shop: PagesShop }): ReactNode {
  const [access, setAccess] = useState<Access | undefined>(() => {
    const key = readMerchantKey()
    return key !== undefined || shop.isKnown ? { key } : undefined
  })
  const [wasRefused, setRefused] = useState(false)
  const signOut = useCallback((isRefused: boolean) => {
    forgetMerchantKey()
    setRefused(isRefused)
    setAccess(undefined)
  }, [])
  const api = useMemo(
    () =>
      access &&
      createMerchantApi({
        root: shop.root,
        key: access.key,
        onRefused: () => signOut(true),
      }),
    [access, shop, signOut],
  )
  function signIn(key: string): void {
    keepMerchantKey(key)
    setAccess({ key })
  }
  return (
    <ShopContext value={shop}>
      {api ? (
        <SignedIn
          api={api}
          shop={shop}
          onSignOut={access?.key === undefined ? undefined : signOut}
        />
      ) : (
        <SignInPage onKey={signIn} wasRefused={wasRefused} />
      )}
    </ShopContext>
  )
}

function SignedIn({
  api,
  shop: { root },
  onSignOut,
}: {
  api: MerchantApi
  shop: PagesShop
  /** Absent if there is no key to forget. */
  onSignOut: ((isRefused: boolean) => void) | undefined
}): ReactNode {
  const path = usePath().slice(root.length)
  const book = useMemo(() => createOrderBook(api), [api])
  useChainTime(api)
  const [, orderId] = /^orders\/(.+)$/.exec(path) ?? []
  const [, subscriptionId] = /^subscriptions\/(.+)$/.exec(path) ?? []
  const isBooks = path === 'books'
  const list = listNames.find((name) => name === path)
  const title = orderId ? 'Proof' : isBooks ? 'Books and health' : 'Orders'
  return (
    <MerchantShell
      wide
      title={title}
      nav={[
        { href: root, label: 'Orders', isCurrent: title === 'Orders' },
        { href: `${root}books`, label: 'Books', isCurrent: isBooks },
      ]}
      actions={
        onSignOut && (
          <Button variant="quiet" size="small" onClick={() => onSignOut(false)}>
            Sign out
          </Button>
        )
      }
    >
      {orderId ? (
        <ProofPage key={orderId} api={api} orderId={decodePercent(orderId)} />
      ) : subscriptionId ? (
        <SubscriptionPage
          key={subscriptionId}
          api={api}
          subscriptionId={decodePercent(subscriptionId)}
        />
      ) : isBooks ? (
        <BooksPage api={api} />
      ) : list === 'subscriptions' ? (
        <SubscriptionsPage api={api} />
      ) : list ? (
        <ListPage key={list} api={api} name={list} />
      ) : (
        <OrdersPage api={api} book={book} />
      )}
    </MerchantShell>
  )
}

/** Lets countdowns follow the chain's time. */
function useChainTime(api: MerchantApi): void {
  useEffect(() => {
    api.health().then(
      ({ chains }) => {
        const time = chains[0]?.time
        if (time !== undefined) setChainTime(Number(time))
      },
      () => undefined,
    )
  }, [api])
}
