import { sealAgain } from '../../store/storedAuthorizers.js'
import type { ChannelRecord } from '../../store/types.js'
import { voucherPlace } from '../../store/voucherPlace.js'
import { writeAgain } from '../../store/writeAgain.js'
import type { OrdersContext } from '../context/types.js'

/** Numbers of vouchers that were encrypted again, and that could not be. */
type Resealed = { resealed: number; left: number }

/** Number of vouchers that are encrypted again in one database transaction. */
const pageSize = 50

/** Encrypts the vouchers of channels again with the current key. */
export async function resealVouchers(
  context: OrdersContext,
): Promise<Resealed> {
  const { store, sealer, destinations: sealed, signal } = context
  const total = { resealed: 0, left: 0 }
  let after: bigint | undefined
  while (true) {
    signal?.throwIfAborted()
    const query = { sealed, except: sealer.current, after, limit: pageSize }
    const rows = await store.read(({ channels }) => channels.find(query))
    if (rows.length === 0) return total
    const { resealed, left } = await resealPage(context, rows)
    total.resealed += resealed
    total.left += left
    after = rows.at(-1)?.position
  }
}

async function resealPage(
  context: OrdersContext,
  rows: readonly ChannelRecord[],
): Promise<Resealed> {
  const texts = await Promise.all(
    rows.map((row) =>
      row.voucher === undefined
        ? undefined
        : sealAgain(context, row.voucher, voucherPlace(row)),
    ),
  )
  const changes = new Map<string | undefined, string>()
  for (const [at, { voucher }] of rows.entries()) {
    const text = texts[at]
    if (text !== undefined) changes.set(voucher, text)
  }
  const left = rows.length - changes.size
  if (changes.size === 0) return { resealed: 0, left }
  const ids = rows.map(({ id }) => id)
  const resealed = await writeAgain(context, async (tables) => {
    // Leaves channels that have got a newer voucher meanwhile.
    const fresh = (await tables.channels.find({ ids })).flatMap((row) => {
      const voucher = changes.get(row.voucher)
      return voucher === undefined ? [] : { ...row, voucher }
    })
    await tables.channels.update(fresh)
    return fresh.length
  })
  return { resealed, left }
}
