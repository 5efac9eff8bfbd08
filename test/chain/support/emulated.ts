import { randomUUID } from 'node:crypto'
import {
  type Address,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  type Hash,
  webSocket,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { DevChain } from '../../../src/devchain/index.js'

export type Json = Record<string, unknown>

/** A question to a chain, any result taken for an object. */
export async function ask(
  { urls }: DevChain,
  method: string,
  ...params: unknown[]
): Promise<Json> {
  const { error, result } = await post(urls.http, method, params)
  if (error) throw Object.assign(new Error(String(error.message)), error)
  return result as Json
}

/** The same, where the result is a list. */
export async function askList(
  chain: DevChain,
  method: string,
  ...params: unknown[]
): Promise<Json[]> {
  return (await ask(chain, method, ...params)) as unknown as Json[]
}

/** The whole answer, HTTP status included. */
export async function post(
  url: string,
  method: string,
  params: unknown[] = [],
): Promise<{
  status: number
  retryAfter: string | null
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', body })
  const text = await response.text()
  const answer = text.startsWith('{') ? JSON.parse(text) : { text }
  const retryAfter = response.headers.get('retry-after')
  return { ...answer, status: response.status, retryAfter }
}

export function freshAddress(): Address {
  return privateKeyToAddress(generatePrivateKey()).toLowerCase() as Address
}

/** Sends one token unit from an account the node can sign for. */
export async function transfer(
  chain: DevChain,
  to: Address = freshAddress(),
  from: Address = chain.clients.payer.account.address,
): Promise<Hash> {
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to, 1n],
  })
  const call = { from, to: chain.token, data, gas: '0x30d40' }
  return (await ask(chain, 'eth_sendTransaction', call)) as unknown as Hash
}

export type Listener = {
  seen: Json[]
  /** Resolves when all that was pushed so far has come. */
  flush(): Promise<void>
  /** Flushes and ends the connection. */
  stop(): Promise<void>
}

/** What a subscription delivered, as it comes. */
export async function listen(
  chain: DevChain,
  ...params: unknown[]
): Promise<Listener> {
  // viem shares a connection between clients of one URL.
  const url = `${chain.urls.webSocket}/${randomUUID()}`
  const transport = webSocket(url, { reconnect: false })
  const client = createPublicClient({ transport })
  const seen: Json[] = []
  const { unsubscribe } = await client.transport.subscribe({
    params: params as ['newHeads'],
    onData: ({ result }) => seen.push(result as Json),
    onError: () => undefined,
  })
  // An answer over the same socket comes after everything sent before it.
  const flush = async () => {
    await client.getChainId()
  }
  const stop = async () => {
    await flush()
    await unsubscribe()
    ;(await client.transport.getRpcClient()).close()
  }
  return { seen, flush, stop }
}
