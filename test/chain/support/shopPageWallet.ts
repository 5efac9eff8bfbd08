import type { Page } from 'playwright-core'
import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** A wallet of somebody else's that a test answers for. */
export type TestWallet = {
  /** Shows other accounts, or none, and tells the page. */
  show(...accounts: readonly Address[]): Promise<void>
  /** Goes to another chain. */
  goTo(chainId: number): Promise<void>
  /** Knows these chains, and goes to one of them when it is asked. */
  know(...chainIds: readonly number[]): Promise<void>
  /** Waits until the page asks for a signature. */
  isAsked(): Promise<void>
  /** Signs what was asked for, with any account. */
  sign(account: Pick<PrivateKeyAccount, 'signTypedData'>): Promise<void>
  /** The transaction that the page asked to send last. */
  sent(): Promise<{ to: Address; data: Hex }>
  /** Answers with anything. */
  answer(signature: unknown): Promise<void>
  /** Answers with an error of EIP-1193. */
  refuse(code: number): Promise<void>
}

type Asked = { typedData: string; answer: (signature: string) => void } & {
  refuse: (error: unknown) => void
}

type InPage = {
  accounts: readonly string[]
  chainId: string
  known: readonly string[]
  asked?: Asked | undefined
  sent?: { to: Address; data: Hex } | undefined
  tell?: ((accounts: readonly string[]) => void) | undefined
}

declare global {
  interface Window {
    testWallet: InPage
  }
}

/** Announces a wallet named “Test wallet” on each document of a page. */
export async function addTestWallet(
  page: Page,
  account: Address,
): Promise<TestWallet> {
  await page.addInitScript(announce, account)
  return {
    show: (...accounts) =>
      page.evaluate((shown) => {
        window.testWallet.accounts = shown
        window.testWallet.tell?.(shown)
      }, accounts),
    goTo: (chainId) =>
      page.evaluate(
        (shown) => {
          window.testWallet.chainId = shown
        },
        `0x${chainId.toString(16)}`,
      ),
    know: (...chainIds) =>
      page.evaluate(
        (known) => {
          window.testWallet.known = known
        },
        chainIds.map((chainId) => `0x${chainId.toString(16)}`),
      ),
    isAsked: async () => {
      await page.waitForFunction(() => window.testWallet.asked)
    },
    sign: async (signer) => {
      const text = await page.evaluate(() => window.testWallet.asked?.typedData)
      const typedData = JSON.parse(text ?? '')
      const signature = await signer.signTypedData(typedData)
      await page.evaluate((signed) => {
        const { asked } = window.testWallet
        window.testWallet.asked = undefined
        asked?.answer(signed)
      }, signature)
    },
    sent: async () => {
      const sent = await page.waitForFunction(() => window.testWallet.sent)
      return (await sent.jsonValue()) as { to: Address; data: Hex }
    },
    answer: (given) =>
      page.evaluate((signature) => {
        const { asked } = window.testWallet
        window.testWallet.asked = undefined
        asked?.answer(signature as string)
      }, given),
    refuse: (code) =>
      page.evaluate((number) => {
        const { asked } = window.testWallet
        window.testWallet.asked = undefined
        asked?.refuse(Object.assign(new Error('no'), { code: number }))
      }, code),
  }
}

/** Runs in the page. */
function announce(account: string): void {
  const wallet: InPage = { accounts: [account], chainId: '0x7a69', known: [] }
  window.testWallet = wallet
  const provider = {
    request: async ({
      method,
      params,
    }: {
      method: string
      params: string[]
    }): Promise<unknown> => {
      if (method === 'eth_chainId') return wallet.chainId
      if (method === 'wallet_switchEthereumChain') {
        const [{ chainId }] = params as unknown as [{ chainId: string }]
        if (!wallet.known.includes(chainId))
          throw Object.assign(new Error('unknown chain'), { code: 4902 })
        wallet.chainId = chainId
        return null
      }
      if (method === 'eth_sendTransaction') {
        wallet.sent = params[0] as unknown as { to: Address; data: Hex }
        return `0x${'00'.repeat(32)}`
      }
      if (method !== 'eth_signTypedData_v4') return wallet.accounts
      return new Promise((answer, refuse) => {
        wallet.asked = { typedData: params[1] ?? '', answer, refuse }
      })
    },
    on: (event: string, listener: InPage['tell']) => {
      if (event === 'accountsChanged') wallet.tell = listener
    },
  }
  const icon = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>'
  const info = {
    uuid: crypto.randomUUID(),
    name: 'Test wallet',
    rdns: 'test.wallet',
    icon,
  }
  addEventListener('eip6963:requestProvider', () => {
    const options = { detail: { info, provider } }
    dispatchEvent(new CustomEvent('eip6963:announceProvider', options))
  })
}
