import { benchBundleSize } from './bundleSize.js'
import type { Row } from './compare.js'
import { benchHashPayment } from './hashPayment.js'
import { benchImport } from './importTime.js'
import { benchOrdersAccept } from './ordersAccept.js'
import { benchOrdersCapture } from './ordersCapture.js'
import { benchOrdersClaim } from './ordersClaim.js'
import { benchOrdersLoad } from './ordersLoad.js'
import { benchMillionPostgres, benchMillionSqlite } from './ordersMillion.js'
import { benchReadsBatch } from './readsBatch.js'
import { benchReadsLogs } from './readsLogs.js'
import { benchReadsPreconfirmed } from './readsPreconfirmed.js'
import { benchReadsReceipts } from './readsReceipts.js'
import { benchReadsStream } from './readsStream.js'
import { benchRecovery } from './recovery.js'
import { benchShopLoad } from './shopLoad.js'
import { benchShopPage } from './shopPage.js'
import { benchVerifyPayment } from './verifyPayment.js'
import { benchX402Paid } from './x402Paid.js'

/** What takes minutes, gigabytes or a browser is measured only if asked for. */
export type Asked = {
  claim?: string | undefined
  load?: string | undefined
  million?: string | undefined
  page?: boolean | undefined
  shop?: string | undefined
}

export type Bench = {
  name: string
  /** After so long it is stopped, and its rows stay as they were. */
  minutes: number
  run(asked: Asked): Promise<Row[]>
  /** The flag that asks for it; without one it always runs. */
  flag?: keyof Asked
}

export const benches: readonly Bench[] = [
  { name: 'bundleSize', minutes: 5, run: benchBundleSize },
  { name: 'hashPayment', minutes: 10, run: benchHashPayment },
  { name: 'recovery', minutes: 15, run: benchRecovery },
  { name: 'verifyPayment', minutes: 15, run: benchVerifyPayment },
  { name: 'importTime', minutes: 10, run: benchImport },
  { name: 'readsBatch', minutes: 10, run: benchReadsBatch },
  { name: 'readsLogs', minutes: 10, run: benchReadsLogs },
  { name: 'readsReceipts', minutes: 10, run: benchReadsReceipts },
  { name: 'readsStream', minutes: 20, run: benchReadsStream },
  { name: 'readsPreconfirmed', minutes: 10, run: benchReadsPreconfirmed },
  { name: 'ordersAccept', minutes: 15, run: benchOrdersAccept },
  { name: 'ordersCapture', minutes: 60, run: benchOrdersCapture },
  { name: 'x402Paid', minutes: 20, run: benchX402Paid },
  {
    name: 'ordersClaim',
    minutes: 60,
    flag: 'claim',
    run: ({ claim }) => benchOrdersClaim(Number(claim)),
  },
  {
    name: 'ordersLoad',
    minutes: 60,
    flag: 'load',
    run: ({ load }) => benchOrdersLoad(Number(load)),
  },
  {
    name: 'millionSqlite',
    minutes: 120,
    flag: 'million',
    run: ({ million }) => benchMillionSqlite(Number(million)),
  },
  {
    name: 'millionPostgres',
    minutes: 120,
    flag: 'million',
    run: ({ million }) => benchMillionPostgres(Number(million)),
  },
  { name: 'shopPage', minutes: 15, flag: 'page', run: benchShopPage },
  {
    name: 'shopLoad',
    minutes: 20,
    flag: 'shop',
    run: ({ shop }) => benchShopLoad(Number(shop)),
  },
]
