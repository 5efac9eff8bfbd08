import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findPort } from '../../worker/findPort.js'
import { type Program, signalAll, startPart } from './program.js'

export type Etcd = {
  /** Ports at which its members take requests. */
  ports: readonly number[]
  /** One member is gone. */
  lose(): void
  /** The lost one is back. */
  bringBack(): void
  stop(): void
}

/** Three members: two of them still agree on who is the primary. */
export async function startEtcd(folder: string): Promise<Etcd> {
  const names = ['etcd-1', 'etcd-2', 'etcd-3']
  const places: { name: string; client: number; peer: number }[] = []
  for (const name of names)
    places.push({ name, client: await findPort(), peer: await findPort() })
  const addressOf = (port: number) => `http://127.0.0.1:${port}`
  const all = places
    .map(({ name, peer }) => `${name}=${addressOf(peer)}`)
    .join()
  const start = (at: number): Program => {
    const { name, client, peer } = places[at] ?? {
      name: '',
      client: 0,
      peer: 0,
    }
    return startPart('etcd', {
      name,
      folder,
      settings: {
        ETCD_NAME: name,
        ETCD_DATA_DIR: join(folder, name, 'data'),
        ETCD_LISTEN_CLIENT_URLS: addressOf(client),
        ETCD_ADVERTISE_CLIENT_URLS: addressOf(client),
        ETCD_LISTEN_PEER_URLS: addressOf(peer),
        ETCD_INITIAL_ADVERTISE_PEER_URLS: addressOf(peer),
        ETCD_INITIAL_CLUSTER: all,
        ETCD_INITIAL_CLUSTER_STATE: 'new',
        ETCD_ENABLE_V2: true,
        // All three share one disk here.
        ETCD_HEARTBEAT_INTERVAL: 300,
        ETCD_ELECTION_TIMEOUT: 3_000,
      },
    })
  }
  const members = places.map((_, at) => start(at))
  await Promise.all(places.map(({ client }) => untilAgreed(addressOf(client))))
  const lost = 1
  return {
    ports: places.map(({ client }) => client),
    lose: () => signalAll([members[lost]?.pid ?? 0], 'SIGKILL'),
    bringBack: () => {
      members[lost] = start(lost)
    },
    stop: () =>
      signalAll(
        members.map(({ pid }) => pid),
        'SIGKILL',
      ),
  }
}

/** Patroni gives up on an etcd whose members have not found each other. */
async function untilAgreed(address: string): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const version = await fetch(`${address}/version`)
      .then((answer) => answer.json())
      .catch(() => undefined)
    const cluster = Object(version).etcdcluster
    if (cluster && cluster !== 'not_decided') return
    await setTimeout(500)
  }
  throw new Error(`etcd at ${address} does not get ready`)
}
