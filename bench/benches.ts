import type { Row } from './compare.js'

/** What takes minutes, gigabytes or a browser is measured only if asked for. */
type Asked = {
  claim?: string | undefined
  growth?: string | undefined
  load?: string | undefined
  million?: string | undefined
  page?: boolean | undefined
  seconds?: string | undefined
  shop?: string | undefined
}

/** What asks for all of them at the smallest size that each can have. */
export const smallest: Asked = {
  claim: '200',
  growth: '600',
  load: '8',
  million: '600',
  page: true,
  seconds: '1',
  shop: '3',
}

/** Loads what it needs in its own process, so that none keeps others from running. */
export type Bench = {
  name: string
  /** After so long it is stopped, and its rows stay as they were. */
  minutes: number
  run(asked: Asked): Promise<Row[]>
  /** The flag that asks for it; without one it always runs. */
  flag?: keyof Asked
}

export const benches: readonly Bench[] = [
  {
    name: 'bundleSize',
    minutes: 5,
    run: async () => (await import('./bundleSize.js')).benchBundleSize(),
  },
  {
    name: 'hashPayment',
    minutes: 10,
    run: async () => (await import('./hashPayment.js')).benchHashPayment(),
  },
  {
    name: 'recovery',
    minutes: 15,
    run: async () => (await import('./recovery.js')).benchRecovery(),
  },
  {
    name: 'verifyPayment',
    minutes: 15,
    run: async () => (await import('./verifyPayment.js')).benchVerifyPayment(),
  },
  {
    name: 'importTime',
    minutes: 10,
    run: async () => (await import('./importTime.js')).benchImport(),
  },
  {
    name: 'readsBatch',
    minutes: 10,
    run: async () => (await import('./readsBatch.js')).benchReadsBatch(),
  },
  {
    name: 'readsLogs',
    minutes: 10,
    run: async () => (await import('./readsLogs.js')).benchReadsLogs(),
  },
  {
    name: 'readsReceipts',
    minutes: 10,
    run: async () => (await import('./readsReceipts.js')).benchReadsReceipts(),
  },
  {
    name: 'readsStream',
    minutes: 20,
    run: async () => (await import('./readsStream.js')).benchReadsStream(),
  },
  {
    name: 'readsPreconfirmed',
    minutes: 10,
    run: async () =>
      (await import('./readsPreconfirmed.js')).benchReadsPreconfirmed(),
  },
  {
    name: 'ordersAccept',
    minutes: 15,
    run: async () => (await import('./ordersAccept.js')).benchOrdersAccept(),
  },
  {
    name: 'ordersCapture',
    minutes: 60,
    run: async () => (await import('./ordersCapture.js')).benchOrdersCapture(),
  },
  {
    name: 'recipients',
    minutes: 15,
    run: async () => (await import('./recipients.js')).benchRecipients(),
  },
  {
    name: 'recipientsOrders',
    minutes: 15,
    run: async () =>
      (await import('./recipientsOrders.js')).benchRecipientsOrders(),
  },
  {
    name: 'x402Ticks',
    minutes: 15,
    run: async () => (await import('./x402Paid.js')).benchX402Ticks(),
  },
  {
    name: 'x402InTurn',
    minutes: 10,
    run: async () => (await import('./x402Paid.js')).benchX402InTurn(),
  },
  {
    name: 'x402Crowd',
    minutes: 20,
    run: async () => (await import('./x402Paid.js')).benchX402Crowd(),
  },
  {
    name: 'channelRequests',
    minutes: 10,
    run: async () =>
      (await import('./channelRequests.js')).benchChannelRequests(),
  },
  {
    name: 'x402Http',
    minutes: 15,
    run: async ({ seconds }) =>
      (await import('./x402Http.js')).benchX402Http(
        seconds === undefined ? undefined : Number(seconds),
      ),
  },
  {
    name: 'ordersClaim',
    minutes: 60,
    flag: 'claim',
    run: async ({ claim }) =>
      (await import('./ordersClaim.js')).benchOrdersClaim(Number(claim)),
  },
  {
    name: 'ordersLoad',
    minutes: 60,
    flag: 'load',
    run: async ({ load }) =>
      (await import('./ordersLoad.js')).benchOrdersLoad(Number(load)),
  },
  {
    name: 'millionSqlite',
    minutes: 120,
    flag: 'million',
    run: async ({ million }) =>
      (await import('./ordersMillion.js')).benchMillionSqlite(Number(million)),
  },
  {
    name: 'millionPostgres',
    minutes: 120,
    flag: 'million',
    run: async ({ million }) =>
      (await import('./ordersMillion.js')).benchMillionPostgres(
        Number(million),
      ),
  },
  {
    name: 'growthPostgres',
    minutes: 60,
    flag: 'growth',
    run: async ({ growth }) =>
      (await import('./ordersMillion.js')).benchGrowth(Number(growth)),
  },
  {
    name: 'archivePostgres',
    minutes: 60,
    flag: 'growth',
    run: async ({ growth }) =>
      (await import('./ordersMillion.js')).benchArchive(Number(growth)),
  },
  {
    name: 'shopPage',
    minutes: 15,
    flag: 'page',
    run: async () => (await import('./shopPage.js')).benchShopPage(),
  },
  {
    name: 'merchantPage',
    minutes: 10,
    flag: 'page',
    run: async () => (await import('./merchantPage.js')).benchMerchantPage(),
  },
  {
    name: 'shopLoad',
    minutes: 20,
    flag: 'shop',
    run: async ({ shop }) =>
      (await import('./shopLoad.js')).benchShopLoad(Number(shop)),
  },
]
