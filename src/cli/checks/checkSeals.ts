import {
  countSealKeys,
  loadOrders,
  type OrdersContext,
  sealContextOf,
} from '../../orders/engine.js'
import { isKeyAway } from '../../store/isKeyAway.js'
import { noKey } from '../../store/noSeal.js'
import type { SealContext } from '../../store/types.js'
import { voucherPlace } from '../../store/voucherPlace.js'
import { fail, ok, warn } from './findings.js'
import type { CheckFinding } from './types.js'

/**
 * Number of orders, and of channels, whose secrets the check decrypts. There may
 * be millions, so it takes a sample.
 */
const sampleSize = 20

/**
 * Checks that the sealer has the key of each stored secret, and decrypts a few
 * secrets.
 */
export async function checkSeals(
  context: OrdersContext,
): Promise<readonly CheckFinding[]> {
  const { store, sealer } = context
  const subject = 'sealing keys'
  const counts = await store.read((tables) => countSealKeys(tables, context))
  const missing = Object.keys(counts).filter(
    (name) => !sealer.keyNames.includes(name),
  )
  if (missing.length > 0)
    return [
      fail(
        subject,
        `stored secrets need the keys ${missing.map((name) => JSON.stringify(name)).join(', ')}, which the sealer does not have`,
        'Pass these keys to sealer: without them the payments cannot be captured.',
      ),
    ]
  const { opened, broken, away } = await openSample(context)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const found: CheckFinding[] = [
    broken > 0
      ? fail(
          subject,
          `${broken} of ${opened + broken} secrets do not open`,
          'The key has the right name but other bytes, or rows were changed: find the right key.',
        )
      : away > 0
        ? warn(
            subject,
            `the key service did not open ${away} secrets`,
            'Repair the key service.',
          )
        : ok(subject, `open ${opened} of ${total} secrets, as a sample`),
  ]
  return sealer.current === noKey
    ? [
        ...found,
        warn(
          subject,
          'secrets are stored unencrypted',
          'Give createOrders a sealer before you take real money.',
        ),
      ]
    : found
}

async function openSample(
  context: OrdersContext,
): Promise<{ opened: number; broken: number; away: number }> {
  const { store, sealer, destinations } = context
  const sealed = await store.read(async (tables) => {
    const ids = await tables.secrets.findOrderIds({
      destinations,
      except: '',
      limit: sampleSize,
    })
    const orders = await loadOrders(tables, { ids })
    const channels = await tables.channels.find({
      sealed: destinations,
      except: '',
      limit: sampleSize,
    })
    return [
      ...[...orders.values()].flatMap(({ order, attempts }) =>
        attempts.flatMap((attempt): [string, SealContext][] =>
          attempt.signature === undefined
            ? []
            : [[attempt.signature, sealContextOf('payment', order, attempt)]],
        ),
      ),
      ...channels.flatMap((channel): [string, SealContext][] =>
        channel.voucher === undefined
          ? []
          : [[channel.voucher, voucherPlace(channel)]],
      ),
    ]
  })
  const result = { opened: 0, broken: 0, away: 0 }
  for (const [text, place] of sealed) {
    try {
      await sealer.open(text, place)
      result.opened++
    } catch (error) {
      if (isKeyAway(error)) result.away++
      else result.broken++
    }
  }
  return result
}
