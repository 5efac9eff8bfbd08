import { findPort } from '../../worker/findPort.js'
import { type Program, signalAll, startPart } from './program.js'
import type { Member } from './startMember.js'

/** What stands between the shop and its database. */
export type Front = {
  /** Of HAProxy, which leads to the primary. */
  direct: number
  /** Of PgBouncer, which leads to HAProxy. */
  pooled: number
  killBouncer(): void
  startBouncer(): void
  stop(): void
}

export async function startFront(
  members: readonly Member[],
  { folder, password }: { folder: string; password: string },
): Promise<Front> {
  const direct = await findPort()
  const pooled = await findPort()
  const haproxy = startPart('haproxy', {
    folder,
    settings: {
      LISTEN: `127.0.0.1:${direct}`,
      SERVERS: members
        .map(
          ({ name, ports: { postgres, rest } }) =>
            `  server ${name} 127.0.0.1:${postgres} check port ${rest}`,
        )
        .join('\n'),
    },
  })
  const bounce = (): Program =>
    startPart('pgbouncer', {
      folder,
      settings: {
        PRIMARY_HOST: '127.0.0.1',
        PRIMARY_PORT: direct,
        LISTEN: '127.0.0.1',
        PORT: pooled,
        PASSWORD: password,
      },
    })
  let bouncer = bounce()
  return {
    direct,
    pooled,
    killBouncer: () => signalAll([bouncer.pid], 'SIGKILL'),
    startBouncer: () => {
      bouncer = bounce()
    },
    stop: () => signalAll([haproxy.pid, bouncer.pid], 'SIGKILL'),
  }
}
