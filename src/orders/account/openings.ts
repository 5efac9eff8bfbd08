/** The secrets of one submitter that are being decrypted. */
export type Openings = {
  /**
   * Returns the running decryption of the secret with this key, or starts one.
   */
  begin(
    key: string,
    open: () => Promise<string | undefined>,
  ): Promise<string | undefined>
  /**
   * Records that a poll has waited for a secret. Later polls do not wait for
   * it.
   */
  noteWaited(key: string): void
  /** True when a poll has waited for a secret that is still not decrypted. */
  isLate(key: string): boolean
  /** Records that a poll has used a secret, so that `endLook` forgets it. */
  take(key: string): void
  late(): number
  /**
   * Forgets secrets that were used, or decrypted in time. A late secret is kept
   * for one more poll after it was decrypted.
   */
  endLook(): void
}

type Opening = {
  secret: Promise<string | undefined>
  isSettled: boolean
  isWaited: boolean
  isTaken: boolean
  /** True when the secret is kept only until the next poll ends. */
  isLast: boolean
}

export function startOpenings(): Openings {
  const openings = new Map<string, Opening>()
  const isLate = (one: Opening) => one.isWaited && !one.isSettled
  return {
    begin: (key, open) => {
      const found = openings.get(key)
      if (found) return found.secret
      const opening: Opening = {
        secret: open(),
        isSettled: false,
        isWaited: false,
        isTaken: false,
        isLast: false,
      }
      const settle = () => {
        opening.isSettled = true
      }
      // A failure is reported by the code that uses the secret.
      opening.secret.then(settle, settle)
      openings.set(key, opening)
      return opening.secret
    },
    noteWaited: (key) => {
      const found = openings.get(key)
      if (found && !found.isSettled) found.isWaited = true
    },
    isLate: (key) => {
      const found = openings.get(key)
      return found !== undefined && isLate(found)
    },
    take: (key) => {
      const found = openings.get(key)
      if (found) found.isTaken = true
    },
    late: () => [...openings.values()].filter(isLate).length,
    endLook: () => {
      for (const [key, one] of openings) {
        if (!one.isSettled) continue
        if (one.isTaken || !one.isWaited || one.isLast) openings.delete(key)
        else one.isLast = true
      }
    },
  }
}
