const name = 'merchantKey'

/**
 * Takes the key from the link's fragment and removes it from the address, so
 * that no history or screenshot shows it.
 */
export function readMerchantKey(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (!given) return sessionStorage.getItem(name) ?? undefined
  keepMerchantKey(given)
  history.replaceState(history.state, '', location.pathname)
  return given
}

export function keepMerchantKey(key: string): void {
  sessionStorage.setItem(name, key)
}

export function forgetMerchantKey(): void {
  sessionStorage.removeItem(name)
}
