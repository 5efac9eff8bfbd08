/** A lock that either many readers or one writer can hold. */
export type Lock = {
  shared<value>(task: () => Promise<value>): Promise<value>
  exclusive<value>(task: () => Promise<value>): Promise<value>
}

/** Creates a lock. Writers get it in the order in which they asked for it. */
export function createLock(): Lock {
  const readers = new Set<Promise<unknown>>()
  let writer: Promise<unknown> | undefined
  return {
    shared: async (task) => {
      while (writer) await writer
      const reading = task()
      readers.add(reading)
      try {
        return await reading
      } finally {
        readers.delete(reading)
      }
    },
    exclusive: (task) => {
      const before = writer
      const writing = (async () => {
        await before
        await Promise.allSettled(readers)
        return task()
      })()
      const settled = writing
        .catch(() => undefined)
        .then(() => {
          if (writer === settled) writer = undefined
        })
      writer = settled
      return writing
    },
  }
}
