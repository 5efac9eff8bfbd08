import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What outlives the process, beside the orders. */
export type ShopSecrets = {
  /** What the merchant signs in with. */
  merchantKey: string
  /** Opens the signatures on record. */
  sealKey: Uint8Array
}

/**
 * Draws the shop's keys at its first start and reads them at the next. In a
 * real shop they come from where keys are kept, not from beside the database.
 */
export function readSecrets(folder: string): ShopSecrets {
  const file = join(folder, 'keys.json')
  if (!existsSync(file)) {
    const drawn = {
      merchantKey: randomBytes(32).toString('base64url'),
      sealKey: randomBytes(32).toString('base64'),
    }
    writeFileSync(file, JSON.stringify(drawn), { mode: 0o600, flag: 'wx' })
  }
  const { merchantKey, sealKey } = JSON.parse(readFileSync(file, 'utf8'))
  return {
    merchantKey,
    sealKey: new Uint8Array(Buffer.from(sealKey, 'base64')),
  }
}
