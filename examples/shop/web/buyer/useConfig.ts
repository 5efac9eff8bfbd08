import { useEffect, useState } from 'react'
import { keepTrying } from '../api/keepTrying.js'
import { getConfig, type ShopConfig } from '../api/shop.js'

/** What the shop takes, once it said so; asked until it does. */
export function useConfig(): ShopConfig | undefined {
  const [config, setConfig] = useState<ShopConfig>()
  useEffect(() => {
    const ending = new AbortController()
    const { signal } = ending
    keepTrying(getConfig, { signal }).then(
      (read) => !signal.aborted && setConfig(read),
      () => undefined,
    )
    return () => ending.abort()
  }, [])
  return config
}
