import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findPort } from '../../worker/findPort.js'
import { layCable } from './cable.js'
import { type Program, signalAll, startPart } from './program.js'

/** A machine with PostgreSQL and its Patroni. */
export type Member = {
  name: string
  /** Ports at which the others reach its PostgreSQL and its Patroni. */
  ports: { postgres: number; rest: number }
  start(): void
  /** The machine loses its power. */
  kill(): void
  /** The machine stands still. */
  freeze(): void
  thaw(): void
  /** The machine is alone: nobody reaches it, and it reaches nobody. */
  cut(): void
  mend(): void
  stop(): void
}

export type MemberTerms = {
  folder: string
  etcd: readonly number[]
  isSynchronous: boolean
  postgresBin: string
  password: string
}

export async function prepareMember(
  name: string,
  { folder, etcd, isSynchronous, postgresBin, password }: MemberTerms,
): Promise<Member> {
  const inside = { postgres: await findPort(), rest: await findPort() }
  const outside = {
    postgres: await layCable(inside.postgres),
    rest: await layCable(inside.rest),
  }
  const toEtcd = await Promise.all(etcd.map(layCable))
  const cables = [outside.postgres, outside.rest, ...toEtcd]
  const data = join(folder, name, 'data')
  const here = (port: number) => `127.0.0.1:${port}`
  const settings = {
    NAME: name,
    REST_LISTEN: here(inside.rest),
    REST_ADDRESS: here(outside.rest.port),
    ETCD_HOSTS: toEtcd.map(({ port }) => here(port)).join(),
    // Patroni would go round the cables.
    ETCD_PROXIES: true,
    SYNCHRONOUS: isSynchronous,
    POSTGRES_LISTEN: here(inside.postgres),
    POSTGRES_ADDRESS: here(outside.postgres.port),
    DATA: data,
    POSTGRES_BIN: postgresBin,
    PASSWORD: password,
    NETWORK: '127.0.0.1/32',
  }
  let patroni: Program | undefined
  let isOn = false
  const startPatroni = () => {
    const started = startPart('patroni', { name, folder, settings })
    patroni = started
    // Docker and systemd start it again, too.
    started.ended
      .then(() => setTimeout(1_000))
      .then(() => isOn && patroni === started && startPatroni())
  }
  const roots = () => [patroni?.pid ?? 0, readPostmaster(data)]
  return {
    name,
    ports: { postgres: outside.postgres.port, rest: outside.rest.port },
    start: () => {
      isOn = true
      startPatroni()
    },
    kill: () => {
      isOn = false
      signalAll(roots(), 'SIGKILL')
    },
    freeze: () => signalAll(roots(), 'SIGSTOP'),
    thaw: () => signalAll(roots(), 'SIGCONT'),
    cut: () => {
      for (const cable of cables) cable.cut()
    },
    mend: () => {
      for (const cable of cables) cable.mend()
    },
    stop: () => {
      isOn = false
      signalAll(roots(), 'SIGKILL')
      for (const cable of cables) cable.stop()
    },
  }
}

/** It is no child of Patroni: it goes on when Patroni ends. */
function readPostmaster(data: string): number {
  try {
    return Number.parseInt(
      readFileSync(join(data, 'postmaster.pid'), 'utf8'),
      10,
    )
  } catch {
    return 0
  }
}
