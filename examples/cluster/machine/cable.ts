import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** The network between a machine and the others, for one port. */
export type Cable = {
  port: number
  /** From now on nothing gets through, and nobody is told. */
  cut(): void
  mend(): void
  stop(): void
}

/** Leads to a port of this machine until it is cut. */
export async function layCable(target: number): Promise<Cable> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    const end = () => {
      // Behind a cut nobody hears that the other side has gone.
      if (isCut) return
      pairs.delete(pair)
      for (const one of pair) one.destroy()
    }
    for (const one of pair) {
      one.on('error', end)
      one.on('close', end)
    }
    if (!isCut) near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const drop = () => {
    for (const pair of pairs) for (const one of pair) one.destroy()
    pairs.clear()
  }
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut: () => {
      isCut = true
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
      }
    },
    mend: () => {
      isCut = false
      drop()
    },
    stop: () => {
      drop()
      server.close()
    },
  }
}
