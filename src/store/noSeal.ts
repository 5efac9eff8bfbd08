import { SealError } from './errors.js'
import type { Sealer } from './types.js'

/** Key name of secrets that are not sealed. No real key can have it. */
export const noKey = 'none'

const mark = `${noKey} `

/**
 * Stores secrets unencrypted. Adds a prefix that no sealed text begins with, so
 * that plain and sealed secrets are never confused.
 *
 * Anyone who can read the database can submit every payment in it. Unlike a
 * real sealer, `open` does not notice a secret that was copied to another row.
 */
export const noSeal: Sealer = {
  current: noKey,
  keyNames: [noKey],
  seal: async (secret) => `${mark}${secret}`,
  open: async (kept) => {
    if (kept.startsWith(mark)) return kept.slice(mark.length)
    throw new SealError(
      "is sealed, but seal is 'none': pass a sealer with its key",
    )
  },
}
