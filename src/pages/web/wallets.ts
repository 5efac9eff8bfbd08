/** A wallet as EIP-1193 has it. */
export type Provider = {
  request(args: { method: string; params?: unknown }): Promise<unknown>
  on?(event: string, listener: (value: never) => void): unknown
}

export type FoundWallet = {
  /** Names the wallet, such as `io.wallet`. */
  id: string
  /** Empty for the wallet of an older browser, which has no name. */
  name: string
  icon: string | undefined
  provider: Provider
}

/** A wallet that showed an account to this page. */
export type Connection = { wallet: FoundWallet; account: `0x${string}` }

/**
 * Asks the wallets of this browser to announce themselves (EIP-6963), and
 * calls `onChange` with all that there are, as they come.
 */
export function findWallets(
  onChange: (wallets: readonly FoundWallet[]) => void,
  signal: AbortSignal,
): void {
  let announced: readonly FoundWallet[] = []
  const tell = () => {
    const { ethereum } = window as { ethereum?: Provider }
    const isNew =
      typeof ethereum?.request === 'function' &&
      // Most wallets announce themselves, and are here as well.
      announced.length === 0
    onChange(
      isNew
        ? [{ id: '', name: '', icon: undefined, provider: ethereum }]
        : announced,
    )
  }
  const hear = (event: Event) => {
    const found = parseWallet((event as CustomEvent).detail)
    if (!found) return
    announced = [...announced.filter(({ id }) => id !== found.id), found]
    tell()
  }
  addEventListener('eip6963:announceProvider', hear, { signal })
  // Wallets of apps put themselves here after the page has begun.
  addEventListener('ethereum#initialized', tell, { signal })
  dispatchEvent(new Event('eip6963:requestProvider'))
  tell()
}

function parseWallet(detail: unknown): FoundWallet | undefined {
  const { info, provider } = Object(detail)
  const { name, rdns, icon } = Object(info)
  const isWallet =
    typeof name === 'string' &&
    typeof rdns === 'string' &&
    typeof Object(provider).request === 'function'
  if (!isWallet) return undefined
  // A picture from elsewhere would tell others about the buyer.
  const isOwn = typeof icon === 'string' && icon.startsWith('data:image/')
  return { id: rdns, name, icon: isOwn ? icon : undefined, provider }
}

const unsupported = [4200, -32_601]

/**
 * Asks a wallet for an account; the wallet asks its user.
 *
 * @param isAgain Lets the user choose another account than before.
 */
export async function connect(
  wallet: FoundWallet,
  isAgain: boolean,
): Promise<Connection> {
  const { provider } = wallet
  if (isAgain)
    await provider
      .request({
        method: 'wallet_requestPermissions',
        params: [{ eth_accounts: {} }],
      })
      .catch((error: unknown) => {
        // Some wallets leave the choice to their own window.
        if (!unsupported.includes(Object(error).code)) throw error
      })
  const accounts = await provider.request({ method: 'eth_requestAccounts' })
  const account = readAccount(accounts)
  if (!account) throw new TypeError('The wallet shows no account.')
  return { wallet, account }
}

/** The first account of a wallet's answer, in lower case. */
export function readAccount(accounts: unknown): `0x${string}` | undefined {
  const [first] = Array.isArray(accounts) ? accounts : []
  return typeof first === 'string' && /^0x[\da-f]{40}$/i.test(first)
    ? (first.toLowerCase() as `0x${string}`)
    : undefined
}

/** Asks the wallet to go to another chain. */
export async function switchChain(
  { provider }: FoundWallet,
  chainId: number,
): Promise<void> {
  const params = [{ chainId: `0x${chainId.toString(16)}` }]
  await provider.request({ method: 'wallet_switchEthereumChain', params })
}
