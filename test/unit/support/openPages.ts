import { createOrders, type Orders } from 'countersign/orders'
import {
  createPages,
  type Pages,
  type PagesParameters,
} from 'countersign/pages'
import { memoryStore } from 'countersign/store'
import { type Address, createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'

export const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const buyerToken = 'ab'.repeat(32)

const failing = async (): Promise<never> => {
  throw new Error('the node at https://key@node.example is down')
}

/** Orders on Base, of a node that gives no answer. */
export function baseOrders(
  token: Address = usdc,
  request: () => Promise<never> = failing,
): Orders {
  const account = privateKeyToAccount(`0x${'17'.repeat(32)}`)
  const transport = custom({ request }, { retryCount: 0 })
  const client = createClient({ chain: base, transport, account })
  return createOrders({
    store: memoryStore({ volatile: true }),
    seal: 'none',
    tokens: [{ client, token }],
    wallets: [client],
  })
}

/** Pages of a shop on Base, and how to ask them. */
export function openPages(parameters: Partial<PagesParameters> = {}): {
  pages: Pages
  ask(path: string, init?: RequestInit): Promise<Response>
} {
  const pages = createPages(baseOrders(), {
    payments: '/payments',
    name: 'Roastery',
    ...parameters,
  })
  return {
    pages,
    ask: (path, init) =>
      pages(new Request(`https://shop.example${path}`, init)),
  }
}

/** What a page tells its script. */
export async function dataOf(
  answer: Promise<Response>,
): Promise<Record<string, unknown>> {
  const html = await (await answer).text()
  const [, content = ''] =
    /<meta name="countersign" content="([^"]*)">/.exec(html) ?? []
  const plain = content
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
  return JSON.parse(plain)
}
