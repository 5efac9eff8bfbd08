import { createReadClient, decodeTokenLog } from 'countersign/reads'
import { type Address, type Hex, padHex } from 'viem'
import { sendTransaction } from 'viem/actions'

/** What a page has to be told to play the cases. */
export type ReadSetting = {
  /** A chain on which nothing happens. */
  still: string
  /** A network that pre-confirms and forbids block receipts. */
  network: { http: string; webSocket: string }
  token: Address
  payer: Address
  merchant: Address
  /** A transfer of one token unit to the merchant. */
  transfer: Hex
}

/** Every read, played the same wherever there is a `fetch`. */
export const readCases: Readonly<
  Record<string, (setting: ReadSetting) => Promise<unknown>>
> = {
  balance: ({ still, payer: address }) =>
    createReadClient({ url: still }).getBalance({ address, block: 1n }),

  count: ({ still, payer: address }) =>
    createReadClient({ url: still }).getTransactionCount({
      address,
      block: 'pending',
    }),

  async logs({ still, token, merchant }) {
    const progress: bigint[] = []
    const logs = await createReadClient({ url: still }).getLogs({
      address: token,
      topics: [null, null, padHex(merchant)],
      fromBlock: 'earliest',
      maxBlockRange: 3n,
      concurrency: 1,
      onProgress: ({ done }) => progress.push(done),
    })
    return { logs, events: logs.map(decodeTokenLog), progress }
  },

  async stream({ still, token }) {
    const client = createReadClient({ url: still })
    const chunks: unknown[] = []
    for await (const chunk of client.streamLogs({
      address: token,
      fromBlock: 0n,
      toBlock: 8n,
      maxBlockRange: 3n,
    }))
      chunks.push(chunk)
    return chunks
  },

  receipts: ({ still }) =>
    createReadClient({ url: still }).getBlockReceipts({ block: 'latest' }),

  singleReceipts: ({ network }) =>
    createReadClient({ url: network.http }).getBlockReceipts({
      block: 1n,
      fallback: 'perTransaction',
    }),

  async batch({ still, payer: address }) {
    const client = createReadClient({ url: still })
    return countFetches(() =>
      Promise.all(
        Array.from({ length: 50 }, (_, i) => BigInt(i % 5)).flatMap((block) => [
          client.getBalance({ address, block }),
          client.getTransactionCount({ address, block }),
        ]),
      ),
    )
  },

  networkKind: async ({ network }) => {
    const client = createReadClient({ url: network.http })
    const { kind, tag } = await client.detectPreconfirmations()
    return { kind, tag }
  },

  malformed: ({ still }) =>
    failureOf(
      createReadClient({ url: still }).getLogs({ address: '0x12' as Address }),
    ),

  refused: ({ still, token }) =>
    failureOf(
      createReadClient({ url: still }).getLogs({
        address: token,
        blockHash: padHex('0x1'),
      }),
    ),

  forbidden: ({ network }) =>
    countFetches(() =>
      failureOf(
        createReadClient({ url: network.http }).getBlockReceipts({
          block: 'latest',
        }),
      ),
    ),

  unreachable: () =>
    failureOf(
      createReadClient({
        url: 'http://127.0.0.1:9/secret-key',
        retry: 0,
      }).getBalance({ address: padHex('0x1', { size: 20 }), block: 'latest' }),
    ),

  watch: watchPayment,
}

/** What becomes of a payment that was sent while it is watched. */
async function watchPayment(setting: ReadSetting): Promise<unknown> {
  const { network, token, payer, merchant, transfer } = setting
  const client = createReadClient({ url: network.http })
  let followed: Hex | undefined
  const seen: unknown[] = []
  const errors: string[] = []
  await new Promise<void>((resolve) => {
    const unwatch = client.watchLogs({
      address: token,
      topics: [null, padHex(payer), padHex(merchant)],
      webSocket: network.webSocket,
      // Only what the WebSocket pushes can wake it.
      pollingInterval: 60_000,
      finality: 'safe',
      onEvent: (event) => {
        if (event.type === 'gap') return
        followed ??= event.log.transactionHash
        if (event.log.transactionHash !== followed) return
        seen.push([
          event.type,
          event.log.preconfirmed,
          decodeTokenLog(event.log),
        ])
        if (event.type !== 'safe') return
        unwatch()
        resolve()
      },
      onError: (error) => errors.push(String(error)),
    })
    const send = async (): Promise<void> => {
      if (followed) return
      await sendTransaction(client, {
        account: payer,
        chain: null,
        to: token,
        data: transfer,
      })
      setTimeout(() => void send(), 500)
    }
    // What is sent before the subscription stands is included at once.
    setTimeout(() => void send(), 500)
  })
  return { seen, errors }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.catch((error: unknown) => error)
  const { name, message, details } = error as Error & { details: unknown }
  return { name, message, details }
}

/** The answers and how many HTTP requests they took. */
async function countFetches<answer>(
  task: () => Promise<answer>,
): Promise<{ answers: answer; requests: number }> {
  const { fetch } = globalThis
  let requests = 0
  globalThis.fetch = (...request) => {
    requests++
    return fetch(...request)
  }
  try {
    return { answers: await task(), requests }
  } finally {
    globalThis.fetch = fetch
  }
}
