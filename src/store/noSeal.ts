import { SealError } from './errors.js'
import type { Sealer } from './types.js'

/** Stands for the name of a key where nothing is sealed. No key has it. */
export const noKey = 'none'

const mark = `${noKey} `

/**
 * Stores secrets unencrypted. Adds a prefix that no sealed text begins with, so
 * that plain and sealed secrets are never confused.
 *
 * Anyone who reads the database can submit every payment in it. Nothing notices
 * a secret that was moved to another row.
 */
export const noSeal: Sealer = {
  current: noKey,
  keyNames: [noKey],
  seal: async (secret) => `${mark}${secret}`,
  open: async (kept) => {
    if (kept.startsWith(mark)) return kept.slice(mark.length)
    throw new SealError('is sealed, but no keys were given')
  },
}
